import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Looks whether the webhooks in a cluster lead to a server that answers; one that leads nowhere holds up every request it
is about. Also says which fields of policies the API server drops because the definition of their kind is somebody else's. Exit codes: 0 all is well, or was mended; 1 something is wrong; 2 the cluster cannot be reached.

Examples:
  $ kymera doctor
  $ kymera doctor --fix --kubeconfig ~/.kube/other`;

export function defineDoctor(program: Command, { io, end }: CommandHost): void {
  program
    .command('doctor')
    .description(
      'Find, and mend, webhooks in a cluster that point nowhere, and what is in the way of policies.',
    )
    .option('--kubeconfig <file>', 'the cluster; default: as kubectl finds it')
    .option('--context <name>', 'a context of the kubeconfig')
    .option('--fix', 'remove webhook configurations that point nowhere')
    .addHelpText('after', examples)
    .action(async (options) => {
      const { doctor } = await import('./doctor.ts');
      end(await doctor(options, io));
    });
}
