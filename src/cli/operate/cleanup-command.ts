import { type Command, InvalidArgumentError } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Removes the objects that a server has created in a cluster: webhook configurations, generated MutatingAdmissionPolicies,
Leases and its state; with --all also its Secrets. Policies are kept. A running server creates its webhooks again: --scale-down stops it first and waits until no replica is
leader. Exit codes: 0 done; 2 the cluster cannot be reached.

Examples:
  $ kymera cleanup
  $ kymera cleanup --kubeconfig ~/.kube/other --all
  $ kymera cleanup --scale-down kymera-admission kymera-background --best-effort`;

export function defineCleanup(program: Command, { io, end }: CommandHost): void {
  program
    .command('cleanup')
    .description('Remove the webhooks of a server from a cluster.')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace of the server', 'kymera')
    .option('--all', 'also remove its certificates')
    .option('--scale-down <deployment...>', 'first scale these Deployments to zero')
    .option('--timeout <seconds>', 'time to wait for them to stop', seconds, 60)
    .option('--best-effort', 'report failures and continue; always exit with 0')
    .addHelpText('after', examples)
    .action(async (options) => {
      const { cleanup } = await import('./cleanup.ts');
      end(await cleanup(options, io));
    });
}

function seconds(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('not a number of seconds');
  return Number(text);
}
