import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultRequestSettings } from '../../admission/policy-provider.ts';
import { defaultPolicyLimits } from '../../policy/policy-limits.ts';
import type { CommandHost } from '../io.ts';
import type { ServeOptions } from './options.ts';

const examples = `
Without a cluster, policies and context data come from files, and a self-signed certificate is kept in the state folder. For
access from other machines, set --host 0.0.0.0 and --advertise NAME. Every option can also be set by an environment variable:
--webhook-url by KYMERA_SERVE_WEBHOOK_URL. Lists are separated by commas.

Examples:
  $ kymera serve --policies policies/
  $ kymera serve --policies policies/ --print-webhook-configuration | kubectl apply -f -
  $ kymera serve --policies policies/ --context objects/ --port 8443 --workers 2
  $ kymera serve --policies policies/ --tls-cert tls.crt --tls-key tls.key --client-ca ca.crt
  $ kymera serve --kubeconfig ~/.kube/config --host 0.0.0.0 --webhook-url https://this-machine.example:9443`;

export function defineServe(program: Command, { io, end }: CommandHost): void {
  const command = program.command('serve');
  command.createOption = (flags, description) => withVariable(new Option(flags, description));
  command
    .description('Answer admission reviews over HTTPS, as a mutating webhook.')
    .option(
      '-p, --policies <path...>',
      'files, folders or globs with policies and exceptions; reloaded when they change',
    )
    .option(
      '-c, --context <path...>',
      'files, folders or globs with objects that policies can read: ConfigMaps, Namespaces …',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <number>',
      'port to listen on; 0 for any free port (default: 9443, or a free port if it is in use)',
      port,
    )
    .option('--advertise <name...>', 'host names or addresses of the server; the first is used in URLs')
    .option('--tls-cert <file>', 'serving certificate with its chain, PEM; reloaded when it changes')
    .option('--tls-key <file>', 'private key of the serving certificate, PEM')
    .option('--ca-bundle <file>', 'CA bundle for the API server when --tls-cert is set, PEM')
    .option('--client-ca <file>', 'require client certificates of this CA, PEM')
    .option('--state-dir <folder>', 'folder of the self-signed certificate')
    .option('--kubeconfig <file>', 'read policies and data from this cluster')
    .option('--kube-context <name>', 'context of the kubeconfig')
    .option('--webhook-url <url>', 'URL of this server for the API server')
    .option('--webhook-service <name>', 'Service of this server, in its namespace, for the API server')
    .option('--namespace <name>', 'namespace of the Lease, Secrets and settings')
    .option('--config-map <name>', 'the ConfigMap with the settings')
    .option('--deployment <name>', 'Deployment of this server: when it is deleted, the webhooks are removed')
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
    .option(
      '--background-service-account <user>',
      'user of the background controller: system:serviceaccount:NAMESPACE:NAME',
    )
    .option('--background', 'also run the background controller in this process')
    .option('--no-background', 'do not run mutate existing and generate rules')
    .option('--allow-host <name...>', 'hosts outside the cluster that policies may call')
    .option(
      '--allow-host-namespaced <name...>',
      'hosts that namespaced Policies may call besides the Services of their namespace',
    )
    .option('--api-call-timeout <seconds>', 'timeout of API calls in policies', positive, 30)
    .option('--api-call-limit <bytes>', 'maximum response size of such a call', positive, 10_000_000)
    .option('--omit-events <reason...>', 'events to suppress')
    .option('--no-admission-policies', 'do not generate MutatingAdmissionPolicies from MutatingPolicies')
    .option('--force-failure-policy-ignore', 'use failure policy Ignore for every policy')
    .option('--workers <number>', 'number of processes that share the port', positive, 1)
    .option('--body-limit <bytes>', 'maximum size of a review', positive, 8 * 1024 * 1024)
    .option('--playground', 'also serve the playground page at /')
    .option('--live-token-file <file>', 'serve the live view of the page to callers with this token')
    .option('--metrics-port <number>', 'also serve metrics and health without TLS on this port', port)
    .option(
      '--debug-decisions [count]',
      'keep the last decisions for /debug/decisions (loopback only)',
      positive,
    )
    .option('--resource-filters <list>', 'do not mutate these objects: [kind,namespace,name]…', '')
    .option('--exclude-usernames <list>', 'do not mutate requests of these users, comma-separated', list)
    .option('--exclude-groups <list>', 'do not mutate requests of these groups', list)
    .option('--exclude-roles <list>', 'do not mutate requests of these roles', list)
    .option('--exclude-cluster-roles <list>', 'do not mutate requests of these cluster roles', list)
    .option(
      '--shutdown-delay <seconds>',
      'after a stop signal, keep serving this long while not ready (default: 5 in a cluster, otherwise 0)',
      seconds,
    )
    .option('--default-registry <host>', 'registry of images without a registry', 'docker.io')
    .option(
      '--max-context-size <bytes>',
      'maximum total size of the context entries of a review; 0 for no limit',
      count,
      defaultRequestSettings.maxContextSize,
    )
    .option('--grace <seconds>', 'time for reviews in flight after a stop signal', positive, 25)
    .addOption(
      withVariable(new Option('--log-level <level>', 'log level'))
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .option(
      '--print-webhook-configuration',
      'print the configuration that registers this server in a cluster, and exit',
    )
    .option('-q, --quiet', 'print no banner')
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples);
  command.action(async () => {
    const { serve } = await import('./serve.ts');
    end(await serve(splitVariables(command), io));
  });
}

/**
 * Every option has an environment variable: KYMERA_SERVE_WEBHOOK_URL for `--webhook-url`. The longer prefix avoids KYMERA_PORT and
 * the like, which Kubernetes sets for a Service named kymera.
 */
function withVariable(option: Option): Option {
  return option.negate || option.name() === 'help'
    ? option
    : option.env(`KYMERA_SERVE_${option.name().replaceAll('-', '_').toUpperCase()}`);
}

/** Splits the comma-separated lists of environment variables. */
function splitVariables(command: Command): ServeOptions {
  for (const option of command.options) {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    if (!option.variadic || command.getOptionValueSource(name) !== 'env' || !Array.isArray(value)) continue;
    const items = value.flatMap((text) => String(text).split(',')).map((text) => text.trim());
    command.setOptionValueWithSource(name, items.filter(Boolean), 'env');
  }
  return command.opts();
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('not a port');
  return value;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new InvalidArgumentError('not a number of seconds');
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('not a positive number');
  return value;
}

function count(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('not a number');
  return Number(text);
}

function list(text: string): string[] {
  return text.split(',');
}
