import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';
import { withBuildOptions } from './command.ts';

const examples = `
Shows the differences per object between a kustomization and another kustomization, objects in files, or a running
cluster. With a cluster, only the fields that the build sets are compared, because the server defaults many others.

Exit codes, as those of diff: 0 no differences; 1 differences; 2 invalid input.

Examples:
  $ kymera diff overlays/production overlays/staging
  $ kymera diff overlays/production --policies policies/     the changes of the policies
  $ kymera diff overlays/production manifests/
  $ kymera diff overlays/production --cluster`;

export function defineDiff(program: Command, { io, end }: CommandHost): void {
  withBuildOptions(
    program
      .command('diff')
      .description('Compare a build with another build, with objects in files, or with a cluster.')
      .argument('<path>', 'a folder with a kustomization')
      .argument('[other]', 'compare with this kustomization, or with this file or folder of objects')
      .option('--cluster', 'compare with the objects of a running cluster')
      .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
      .option('--context <name>', 'context of the kubeconfig')
      .option(
        '--policies <path...>',
        'apply these policies to the first build; without a second build, compare with the unmutated build',
      )
      .addOption(new Option('--name-only', 'print only the names of objects that differ')),
  )
    .option('--show-secrets', 'show the values of Secrets instead of ***')
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples)
    .action(async (path: string, other: string | undefined, options) => {
      const { diff } = await import('./diff.ts');
      end(await diff(path, other, options, io));
    });
}
