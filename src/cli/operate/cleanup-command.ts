import { type Command, InvalidArgumentError } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Takes away what a server has written to a cluster so that the API server finds it: webhook configurations, its
Leases and what it remembers; with --all also its Secrets. Policies stay. A server that still runs writes its webhooks again: --scale-down
stops it first, and waits until nobody leads any more. Exit codes: 0 done, 2 the cluster cannot be reached.

Examples:
  $ kymera cleanup
  $ kymera cleanup --kubeconfig ~/.kube/other --all
  $ kymera cleanup --scale-down kymera-admission kymera-background --best-effort`;

export function defineCleanup(program: Command, { io, end }: CommandHost): void {
  program
    .command('cleanup')
    .description('Take the webhooks of a server out of a cluster.')
    .option('--kubeconfig <file>', 'the cluster; default: as kubectl finds it')
    .option('--context <name>', 'a context of the kubeconfig')
    .option('-n, --namespace <name>', 'where the server lives', 'kymera')
    .option('--all', 'remove its certificates, too')
    .option('--scale-down <deployment...>', 'first set these Deployments to no replicas')
    .option('--timeout <seconds>', 'how long to wait for them to stop', seconds, 60)
    .option('--best-effort', 'do what can be done: tell of what cannot, and end with 0')
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
