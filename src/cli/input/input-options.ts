import { type Command, Option } from 'commander';
import { inputError } from '../../problem.ts';
import { withOffline } from '../offline-option.ts';
import type { RunOptions } from './run-setup.ts';

/** Parsed options. Some have a second name, the one in Kyverno's command line. */
export interface ParsedInputOptions {
  readonly resource?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly targetResource?: readonly string[] | undefined;
  readonly targetResources?: readonly string[] | undefined;
  readonly values?: string | undefined;
  readonly valuesFile?: string | undefined;
  readonly set?: readonly string[] | undefined;
  readonly userinfo?: string | undefined;
  readonly crd?: readonly string[] | undefined;
  readonly strict?: boolean | undefined;
  readonly strictCompat?: boolean | undefined;
  readonly exceptions?: readonly string[] | undefined;
  readonly exception?: readonly string[] | undefined;
  readonly color?: boolean | undefined;
  readonly removeColor?: boolean | undefined;
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Arguments and options that `apply` and `explain` share. */
export function withInput(command: Command): Command {
  return withOffline(command)
    .argument('[policy...]', 'files, folders, globs or https addresses with policies; - for standard input')
    .option(
      '-r, --resource <path...>',
      'files, folders, globs or https addresses with resources; - for standard input',
    )
    .addOption(new Option('--resources <path...>').hideHelp())
    .option(
      '--target-resource <path...>',
      'existing objects that policies can read and change; only changed ones are printed',
    )
    .addOption(new Option('--target-resources <path...>').hideHelp())
    .option('-f, --values <file>', 'a Values document: request, context and namespace labels')
    .addOption(new Option('--values-file <file>').hideHelp())
    .option('-s, --set <key=value>', 'single values: request.operation=UPDATE,cm.data.env=prod', collect)
    .option('-u, --userinfo <file>', 'a UserInfo document: who makes the request')
    .option('-e, --exceptions <path...>', 'files, folders or globs with PolicyExceptions')
    .addOption(new Option('--exception <path...>').hideHelp())
    .option(
      '--crd <path...>',
      'CustomResourceDefinitions: the schemas by which CEL policies merge custom kinds',
    )
    .option('--strict', 'a rule fails if an API call that it needs is not made')
    .option(
      '--strict-compat',
      "evaluate CEL policies as Kyverno does where Kymera's result differs on purpose",
    )
    .addOption(
      new Option('--log-level <level>', 'messages to print on standard error')
        .choices(['error', 'warn', 'info'])
        .default('warn'),
    )
    .option('--no-color', 'print without colors')
    .addOption(new Option('--remove-color').hideHelp())
    .option(
      '-c, --cluster',
      'read context from a cluster, and the objects too unless -r is given; never writes to the cluster',
    )
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <namespace>', 'with --cluster: only objects of this namespace');
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Merges the second names of options. Throws InputError for an invalid combination. */
export function inputOptions<Options extends ParsedInputOptions>(
  policies: readonly string[],
  options: Options,
): Options & RunOptions {
  const { cluster, kubeconfig, context, namespace } = options;
  if (cluster !== true && (kubeconfig ?? context ?? namespace) !== undefined) {
    throw inputError('KYM_USAGE', '--kubeconfig, --context and --namespace require --cluster');
  }
  const resource = [...(options.resource ?? []), ...(options.resources ?? [])];
  if (policies.length === 0) {
    throw inputError('KYM_USAGE', 'no policy is named', {
      hint: 'name policies first: -r takes every path after it, up to the next option',
    });
  }
  const values = options.values ?? options.valuesFile;
  return {
    ...options,
    resource,
    otherResources: [
      ...(options.targetResource ?? []),
      ...(options.targetResources ?? []),
      ...(options.crd ?? []),
    ],
    exceptions: [...(options.exceptions ?? []), ...(options.exception ?? [])],
    ...(values === undefined ? {} : { values }),
    ...(options.removeColor === true ? { color: false } : {}),
  };
}
