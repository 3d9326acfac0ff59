import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Rules with mutate.targets and generate rules run in the background controller, which needs permissions for them. The role has a
label that aggregates it into the role of the background controller, so kubectl apply is enough. Kinds that a policy computes with
variables cannot be determined; they are listed as comments.

Exit codes: 0 success; 2 invalid input.

Examples:
  $ kymera rbac policy.yaml
  $ kymera rbac policies/ --name kymera-background-policies
  $ kymera rbac policy.yaml -o json
  $ kymera rbac policy.yaml --cluster`;

export function defineRbac(program: Command, { io, end }: CommandHost): void {
  program
    .command('rbac')
    .description('Print the ClusterRole that mutate existing and generate rules need.')
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .option('--name <name>', 'name of the role', 'kymera-background-policies')
    .addOption(new Option('-o, --format <format>', 'output format').choices(['yaml', 'json']).default('yaml'))
    .option(
      '-c, --cluster',
      'read resource names from a cluster; needed for custom kinds with irregular plurals',
    )
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', examples)
    .action(async (policies: string[], options) => {
      const { rbac } = await import('./rbac.ts');
      end(await rbac(policies, options, io));
    });
}
