import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
What a policy writes differs from what is in Git. Prints the settings that keep Argo CD and Flux from fighting it, as YAML
to merge into an Application, a Kustomization or a HelmRelease. Exit codes: 0 fine; 2 bad input.

Examples:
  $ kymera gitops hints policies/
  $ kymera gitops hints policies/ --for argocd > ignore-differences.yaml
  $ kymera gitops hints policy.yaml --for flux`;

export function defineGitops(program: Command, { io, end }: CommandHost): void {
  const gitops = program.command('gitops').description('Help GitOps tools to live with what policies write.');
  gitops
    .command('hints')
    .description('Print settings for Argo CD and Flux, derived from what the policies write.')
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .addOption(new Option('--for <tool>', 'one tool only (default: both)').choices(['argocd', 'flux']))
    .addHelpText('after', examples)
    .action(async (policies: string[], options) => {
      const { hints } = await import('./gitops.ts');
      end(await hints(policies, options, io));
    });
}
