import { type Command, Option } from 'commander';
import type { Occasion } from '../../background/run/existing-run.ts';
import type { ChangeFormat } from '../../offline/output/planned-changes.ts';
import { inputError } from '../../problem.ts';
import type { CommandHost } from '../io.ts';
import { withOffline } from '../offline-option.ts';

export interface ParsedExistingOptions {
  readonly resource?: readonly string[] | undefined;
  readonly exceptions?: readonly string[] | undefined;
  readonly userinfo?: string | undefined;
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE' | undefined;
  readonly onPolicyUpdate?: boolean | undefined;
  readonly trigger?: readonly string[] | undefined;
  readonly format: ChangeFormat;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
  readonly showSecrets?: boolean | undefined;
}

const meaning = `
Rules with mutate.targets change existing objects, and generate rules create objects. A server runs them in the background.
Here every given object is a trigger: by default as in the periodic resync, without an operation and a user; with --operation as if
each object were created, updated or deleted. As in a cluster, the mutate rules of the given policies apply to the written objects,
and a written object may be a trigger itself.

Exit codes: 0 success; 1 a rule failed; 2 invalid input.`;

const planExamples = `${meaning}

Examples:
  $ kymera existing plan policy.yaml -r objects/
  $ kymera existing plan policy.yaml -r objects/ --operation CREATE --trigger Namespace/web
  $ kymera existing plan policy.yaml -r objects/ -o json
  $ kymera existing plan policy.yaml --cluster --on-policy-update`;

const applyExamples = `${meaning}

Files with changed objects are rewritten and keep their comments. A generated object gets its own file beside its trigger.
With --output, all objects are written there and no input file is changed.

Examples:
  $ kymera existing apply policy.yaml -r objects/
  $ kymera existing apply policy.yaml -r objects/ --operation UPDATE --trigger Secret/default/web --output out/
  $ kymera existing apply policy.yaml --cluster`;

export function defineExisting(program: Command, { io, end }: CommandHost): void {
  const existing = program
    .command('existing')
    .description('Mutate existing objects and generate objects: preview the changes, or make them.');
  withObjects(withOffline(existing.command('plan')))
    .description('Show the changes of mutate existing and generate rules.')
    .addOption(
      new Option('-o, --format <format>', 'output format')
        .choices(['diff', 'yaml', 'json', 'table'] satisfies ChangeFormat[])
        .default('diff'),
    )
    .option('--show-secrets', 'show the values of Secrets in a diff instead of ***')
    .addHelpText('after', planExamples)
    .action(async (policies: string[], parsed: ParsedExistingOptions) => {
      const { planExisting } = await import('./existing.ts');
      end(await planExisting(policies, existingOptions(policies, parsed), io));
    });
  withObjects(withOffline(existing.command('apply')))
    .description('Make the changes in files, or with --cluster in the cluster.')
    .option('--output <path>', 'write all objects to a file or folder and do not change the input')
    .addHelpText('after', applyExamples)
    .action(async (policies: string[], parsed: ParsedExistingOptions) => {
      const { applyExisting } = await import('./existing.ts');
      end(await applyExisting(policies, existingOptions(policies, { ...parsed, format: 'diff' }), io));
    });
}

function withObjects(command: Command): Command {
  return command
    .argument('[policy...]', 'files, folders or globs with policies; - for standard input')
    .option('-r, --resource <path...>', 'files, folders or globs with objects')
    .option('-e, --exceptions <path...>', 'files, folders or globs with PolicyExceptions')
    .option('-u, --userinfo <file>', 'a UserInfo document: the user of the requests; requires --operation')
    .addOption(
      new Option('--operation <operation>', 'operation on each trigger').choices([
        'CREATE',
        'UPDATE',
        'DELETE',
      ]),
    )
    .option('--on-policy-update', 'only the rules that run when the policy is created or changed')
    .option(
      '--trigger <object...>',
      'only these triggers: NAME, KIND/NAME or KIND/NAMESPACE/NAME, with wildcards',
    )
    .option('-q, --quiet', 'print no summary and no progress')
    .option('--no-color', 'print without colors')
    .option('-c, --cluster', 'use the objects of a cluster')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <namespace>', 'with --cluster: only triggers of this namespace');
}

export interface ExistingOptions extends ParsedExistingOptions {
  readonly occasion: Occasion;
}

/** Throws InputError for an invalid combination. */
function existingOptions(policies: readonly string[], parsed: ParsedExistingOptions): ExistingOptions {
  const { cluster, kubeconfig, context, namespace, operation, onPolicyUpdate, resource = [] } = parsed;
  const refuse = (message: string, hint?: string) =>
    inputError('KYM_USAGE', message, hint === undefined ? {} : { hint });
  if (policies.length === 0) {
    throw refuse(
      'no policy is named',
      'name policies first: -r takes every path after it, up to the next option',
    );
  }
  if (resource.length === 0 && cluster !== true)
    throw refuse('no object is named', 'name them with -r, or --cluster');
  if (resource.length > 0 && cluster === true) throw refuse('-r and --cluster exclude each other');
  if (cluster !== true && (kubeconfig ?? context ?? namespace) !== undefined) {
    throw refuse('--kubeconfig, --context and --namespace require --cluster');
  }
  if (operation !== undefined && onPolicyUpdate === true) {
    throw refuse('--operation and --on-policy-update exclude each other');
  }
  if (parsed.userinfo !== undefined && operation === undefined)
    throw refuse('--userinfo requires --operation');
  if (parsed.output !== undefined && cluster === true)
    throw refuse('--output and --cluster exclude each other');
  return { ...parsed, occasion: operation ?? (onPolicyUpdate === true ? 'policyUpdate' : 'reconcile') };
}
