import type { Command } from 'commander';
import type { CommandHost } from './command-host.ts';

const examples = `
Takes away what a server has written to a cluster so that the API server finds it: webhook configurations and its
Lease; with --all also its Secrets. Policies stay. Exit codes: 0 done, 2 the cluster cannot be reached.

Examples:
  $ kymera cleanup
  $ kymera cleanup --kubeconfig ~/.kube/other --all`;

export function defineCleanup(program: Command, { io, end }: CommandHost): void {
  program
    .command('cleanup')
    .description('Take the webhooks of a server out of a cluster.')
    .option('--kubeconfig <file>', 'the cluster; default: as kubectl finds it')
    .option('--context <name>', 'a context of the kubeconfig')
    .option('-n, --namespace <name>', 'where the server lives', 'kymera')
    .option('--all', 'remove its certificates, too')
    .addHelpText('after', examples)
    .action(async (options) => {
      const { cleanup } = await import('./cleanup.ts');
      end(await cleanup(options, io));
    });
}
