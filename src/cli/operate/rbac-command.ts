import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Rules with mutate.targets and generate rules run in the background, which may do nothing but what it is granted. The
role has a label by which the background's own role takes it in: kubectl apply is all that is needed. Kinds that a
policy computes cannot be known beforehand: they are named as comments.

Exit codes: 0 fine; 2 bad input.

Examples:
  $ kymera rbac policy.yaml
  $ kymera rbac policies/ --name kymera-background-policies
  $ kymera rbac policy.yaml -o json
  $ kymera rbac policy.yaml --cluster`;

export function defineRbac(program: Command, { io, end }: CommandHost): void {
  program
    .command('rbac')
    .description('Print the ClusterRole that rules for existing objects and generate rules need.')
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .option('--name <name>', 'the name of the role', 'kymera-background-policies')
    .addOption(new Option('-o, --format <format>', 'what to print').choices(['yaml', 'json']).default('yaml'))
    .option(
      '-c, --cluster',
      'ask a cluster what its kinds are called; needed for custom kinds with odd plurals',
    )
    .option('--kubeconfig <file>', 'how to reach the cluster; as kubectl finds it when absent')
    .option('--context <name>', 'a context of the kubeconfig')
    .addHelpText('after', examples)
    .action(async (policies: string[], options) => {
      const { rbac } = await import('./rbac.ts');
      end(await rbac(policies, options, io));
    });
}
