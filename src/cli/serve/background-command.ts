import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Does what policies ask for beyond the request at hand: changes existing objects (mutate rules with targets) and generates objects. kymera
serve leaves that work in UpdateRequests (kubectl get ur -n NAMESPACE); of several processes one does it at a time. Every
BACKGROUND_SCAN_INTERVAL (default 1h, 0 for never) rules for existing objects are run anyway.

Examples:
  $ kymera background --kubeconfig ~/.kube/config
  $ BACKGROUND_SCAN_INTERVAL=15m kymera background --kubeconfig ~/.kube/config --metrics-port 8000`;

export function defineBackground(program: Command, { io, end }: CommandHost): void {
  program
    .command('background')
    .description('Change existing objects and generate others, as policies ask, in a cluster.')
    .option('--kubeconfig <file>', 'the cluster; default: as kubectl finds it, or the one it runs in')
    .option('--kube-context <name>', 'the context of the kubeconfig to use')
    .option('--namespace <name>', 'where Lease, UpdateRequests and settings are')
    .option('--config-map <name>', 'the ConfigMap with the settings')
    .option(
      '--policy-selector <labels>',
      'kyverno.io policies to take, by labels (default: all, or none where Kyverno runs); those of kymera.io are always taken',
    )
    .option('--exception-namespace <name...>', 'namespaces whose PolicyExceptions count; * for all')
    .option('--allow-host <name...>', 'hosts outside the cluster that policies may call')
    .option(
      '--allow-host-namespaced <name...>',
      'hosts that namespaced Policies may call besides the Services of their namespace',
    )
    .option(
      '--omit-events <reason...>',
      'events that are not written (default: PolicyApplied, PolicySkipped)',
    )
    .option('--workers <number>', 'UpdateRequests worked on at a time', positive, 10)
    .option('--ttl <seconds>', 'how long what is done stays to be seen', positive, 60)
    .option('--host <address>', 'address for metrics and health', '127.0.0.1')
    .option('--metrics-port <number>', 'serve metrics and health on this port', port)
    .addOption(
      new Option('--log-level <level>', 'what to log')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .addHelpText('after', examples)
    .action(async (options) => {
      const { background } = await import('./background.ts');
      end(await background(options, io));
    });
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('not a port');
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('not a positive number');
  return value;
}
