import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultRequestSettings } from '../../admission/policy-provider.ts';
import type { CommandHost } from '../io.ts';
import type { ServeOptions } from './options.ts';

const examples = `
Without a cluster, policies and the data they read come from files, and a certificate is made and kept in the state folder. What
it needs to know to be reached from elsewhere: --host 0.0.0.0 and --advertise NAME. Every option can be given by a variable as
well: --webhook-url by KYMERA_SERVE_WEBHOOK_URL; lists have commas between.

Examples:
  $ kymera serve --policies policies/
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
      'files, folders or globs with objects that policies read: ConfigMaps, Namespaces …',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <number>',
      'port to listen on; 0 for any (default: 9443, or any when that is taken)',
      port,
    )
    .option(
      '--advertise <name...>',
      'host names or addresses by which callers reach the server; the first is in the URL',
    )
    .option('--tls-cert <file>', 'serving certificate with its chain, PEM; reloaded when it changes')
    .option('--tls-key <file>', 'key of the serving certificate, PEM')
    .option('--ca-bundle <file>', 'what the API server is to trust when the certificate is given, PEM')
    .option('--client-ca <file>', 'callers must show a certificate of this authority, PEM')
    .option('--state-dir <folder>', 'where the self-signed certificate is kept')
    .option('--kubeconfig <file>', 'take policies and data from this cluster')
    .option('--kube-context <name>', 'the context of the kubeconfig to use')
    .option('--webhook-url <url>', 'where the API server reaches this server')
    .option(
      '--webhook-service <name>',
      'the Service in the own namespace by which the API server reaches this server',
    )
    .option('--namespace <name>', 'where Lease, Secrets and settings are')
    .option('--config-map <name>', 'the ConfigMap with the settings')
    .option('--deployment <name>', 'the Deployment of this server: when it goes, the webhooks go')
    .option(
      '--policy-selector <labels>',
      'kyverno.io policies to take, by labels (default: all, or none where Kyverno runs); those of kymera.io are always taken',
    )
    .option('--exception-namespace <name...>', 'namespaces whose PolicyExceptions count; * for all')
    .option(
      '--background-service-account <user>',
      'system:serviceaccount:NAMESPACE:NAME, who changes existing objects',
    )
    .option('--background', 'also do the work in the background, as kymera background does')
    .option('--no-background', 'take no triggers: rules for existing objects and generate rules are not run')
    .option('--allow-host <name...>', 'hosts outside the cluster that policies may call')
    .option(
      '--allow-host-namespaced <name...>',
      'hosts that namespaced Policies may call besides the Services of their namespace',
    )
    .option('--api-call-timeout <seconds>', 'longest wait for data that a policy calls for', positive, 30)
    .option('--api-call-limit <bytes>', 'largest answer to such a call', positive, 10_000_000)
    .option('--omit-events <reason...>', 'events that are not written')
    .option('--force-failure-policy-ignore', 'treat every policy as if its failure policy were Ignore')
    .option('--workers <number>', 'processes that share the port', positive, 1)
    .option('--body-limit <bytes>', 'largest review accepted', positive, 8 * 1024 * 1024)
    .option('--metrics-port <number>', 'also serve metrics and health without TLS on this port', port)
    .option(
      '--debug-decisions [count]',
      'keep the last decisions for /debug/decisions (on this machine only)',
      positive,
    )
    .option('--resource-filters <list>', 'let these through: [kind,namespace,name]…', '')
    .option('--exclude-usernames <list>', 'let these users through, with commas between', list)
    .option('--exclude-groups <list>', 'let these groups through', list)
    .option('--exclude-roles <list>', 'let these roles through', list)
    .option('--exclude-cluster-roles <list>', 'let these cluster roles through', list)
    .option(
      '--shutdown-delay <seconds>',
      'go on answering this long when told to stop, though not ready; in a cluster 5 unless given, else 0',
      seconds,
    )
    .option('--default-registry <host>', 'registry of images that name none', 'docker.io')
    .option(
      '--max-context-size <bytes>',
      'what the context entries of a review may hold together; 0 for any amount',
      count,
      defaultRequestSettings.maxContextSize,
    )
    .option('--grace <seconds>', 'time for reviews in flight when told to stop', positive, 25)
    .addOption(
      withVariable(new Option('--log-level <level>', 'what to log'))
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .option('-q, --quiet', 'print no greeting')
    .option('--no-color', 'print without colours')
    .addHelpText('after', examples);
  command.action(async () => {
    const { serve } = await import('./serve.ts');
    end(await serve(splitVariables(command), io));
  });
}

/**
 * Every option can be given by a variable too: `--webhook-url` by KYMERA_SERVE_WEBHOOK_URL. Kubernetes itself sets
 * KYMERA_PORT and the like where there is a Service called kymera.
 */
function withVariable(option: Option): Option {
  return option.negate
    ? option
    : option.env(`KYMERA_SERVE_${option.name().replaceAll('-', '_').toUpperCase()}`);
}

/** A variable holds the values of a list with commas between. */
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
