import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Fields that a policy writes differ from those in Git. Prints settings that make Argo CD and Flux ignore these fields, as YAML
to merge into an Application, a Kustomization or a HelmRelease. Exit codes: 0 success; 2 invalid input.

Examples:
  $ kymera gitops hints policies/
  $ kymera gitops hints policies/ --for argocd > ignore-differences.yaml
  $ kymera gitops hints policy.yaml --for flux`;

export function defineGitops(program: Command, { io, end }: CommandHost): void {
  const gitops = program
    .command('gitops')
    .description('Make GitOps tools ignore fields that policies manage.');
  gitops
    .command('hints')
    .description('Print settings for Argo CD and Flux, derived from the fields that policies write.')
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .addOption(new Option('--for <tool>', 'one tool only (default: both)').choices(['argocd', 'flux']))
    .addHelpText('after', examples)
    .action(async (policies: string[], options) => {
      const { hints } = await import('./gitops.ts');
      end(await hints(policies, options, io));
    });
}
