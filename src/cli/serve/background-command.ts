import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultPolicyLimits } from '../../policy/policy-limits.ts';
import type { CommandHost } from '../io.ts';

const examples = `
Runs the background work of policies: mutate rules with targets and generate rules. kymera serve queues this work as
UpdateRequests (kubectl get ur -n NAMESPACE). With several replicas, the leader does the work. Every BACKGROUND_SCAN_INTERVAL
(default 1h, 0 to disable) a resync runs the rules for existing objects.

Examples:
  $ kymera background --kubeconfig ~/.kube/config
  $ BACKGROUND_SCAN_INTERVAL=15m kymera background --kubeconfig ~/.kube/config --metrics-port 8000`;

export function defineBackground(program: Command, { io, end }: CommandHost): void {
  program
    .command('background')
    .description('Run mutate existing and generate rules in a cluster.')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses, or in-cluster)')
    .option('--kube-context <name>', 'context of the kubeconfig')
    .option('--namespace <name>', 'namespace of the Lease, UpdateRequests and settings')
    .option('--config-map <name>', 'the ConfigMap with the settings')
    .option(
      '--policy-selector <labels>',
      'label selector for kyverno.io policies (default: all, or none where Kyverno runs); kymera.io policies are always used',
    )
    .option(
      '--policy-rule-limit <number>',
      'maximum number of rules of a policy',
      positive,
      defaultPolicyLimits.rules,
    )
    .option(
      '--policy-size-limit <bytes>',
      'maximum size of the spec of a policy, as JSON',
      positive,
      defaultPolicyLimits.bytes,
    )
    .option('--exception-namespace <name...>', 'namespaces of PolicyExceptions; * for all')
    .option('--allow-host <name...>', 'hosts outside the cluster that policies may call')
    .option(
      '--allow-host-namespaced <name...>',
      'hosts that namespaced Policies may call besides the Services of their namespace',
    )
    .option('--omit-events <reason...>', 'events to suppress (default: PolicyApplied, PolicySkipped)')
    .option('--workers <number>', 'number of concurrent UpdateRequests', positive, 10)
    .option('--ttl <seconds>', 'time to keep completed UpdateRequests', positive, 60)
    .option('--host <address>', 'address for metrics and health', '127.0.0.1')
    .option('--metrics-port <number>', 'serve metrics and health on this port', port)
    .addOption(
      new Option('--log-level <level>', 'log level')
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
