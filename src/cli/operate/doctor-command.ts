import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Checks whether the webhooks in a cluster reach a server. A webhook without a server blocks every request that it
matches. Also reports policy fields that the API server drops because of a foreign CRD. Exit codes: 0 no problem, or all fixed;
1 a problem was found; 2 the cluster cannot be reached.

Examples:
  $ kymera doctor
  $ kymera doctor --fix --kubeconfig ~/.kube/other`;

export function defineDoctor(program: Command, { io, end }: CommandHost): void {
  program
    .command('doctor')
    .description(
      'Find and fix webhooks without a server, and report other problems of policies in a cluster.',
    )
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--fix', 'remove webhook configurations without a server')
    .addHelpText('after', examples)
    .action(async (options) => {
      const { doctor } = await import('./doctor.ts');
      end(await doctor(options, io));
    });
}
