import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';
import { withBuildOptions } from './command.ts';

const examples = `
Shows, object by object, what a kustomization changes: against another kustomization, against objects in files, or
against what runs in a cluster. Against a cluster only fields that the build states are compared, since the
server fills in many others.

Exit codes, as those of diff: 0 no difference; 1 differences; 2 bad input.

Examples:
  $ kymera diff overlays/production overlays/staging
  $ kymera diff overlays/production --policies policies/     what the policies will change
  $ kymera diff overlays/production manifests/
  $ kymera diff overlays/production --cluster`;

export function defineDiff(program: Command, { io, end }: CommandHost): void {
  withBuildOptions(
    program
      .command('diff')
      .description('Compare a build with another build, with objects in files, or with a cluster.')
      .argument('<path>', 'a folder with a kustomization')
      .argument('[other]', 'what it is compared with: a kustomization, or a file or folder with objects')
      .option('--cluster', 'compare with the objects of a running cluster')
      .option('--kubeconfig <file>', 'how to reach the cluster')
      .option('--context <name>', 'which context of the kubeconfig to use')
      .option(
        '--policies <path...>',
        'apply these policies to the first build; alone, compare with the build without',
      )
      .addOption(new Option('--name-only', 'print only the names of objects that differ')),
  )
    .option('--no-color', 'print without colours')
    .addHelpText('after', examples)
    .action(async (path: string, other: string | undefined, options) => {
      const { diff } = await import('./diff.ts');
      end(await diff(path, other, options, io));
    });
}
