import { type Command, Option } from 'commander';
import type { Occasion } from '../../background/run/existing-run.ts';
import { inputError } from '../../problem.ts';
import type { CommandHost } from '../io.ts';
import type { ChangeFormat } from '../output/planned-changes.ts';

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
}

const meaning = `
Rules with mutate.targets change objects that are there already, and generate rules make objects; a server does so in the
background. Here every object given is a trigger: as in the regular look at everything, without an operation and without a
user; with --operation as if each were created, updated or deleted. What is written goes through the mutate rules of
the policies given, and may be a trigger itself, as in a cluster.

Exit codes: 0 fine; 1 a rule failed; 2 bad input.`;

const planExamples = `${meaning}

Examples:
  $ kymera existing plan policy.yaml -r objects/
  $ kymera existing plan policy.yaml -r objects/ --operation CREATE --trigger Namespace/web
  $ kymera existing plan policy.yaml -r objects/ -o json
  $ kymera existing plan policy.yaml --cluster --on-policy-update`;

const applyExamples = `${meaning}

Files that hold changed objects are written again, comments and all; what is made gets files of its own beside its trigger.
With --output everything goes there, and no file is changed.

Examples:
  $ kymera existing apply policy.yaml -r objects/
  $ kymera existing apply policy.yaml -r objects/ --operation UPDATE --trigger Secret/default/web --output out/
  $ kymera existing apply policy.yaml --cluster`;

export function defineExisting(program: Command, { io, end }: CommandHost): void {
  const existing = program
    .command('existing')
    .description('Mutate existing objects and generate: see what policies would change, and do it.');
  withObjects(existing.command('plan'))
    .description('Show the difference that rules for existing objects and generate rules would make.')
    .addOption(
      new Option('-o, --format <format>', 'what to print')
        .choices(['diff', 'yaml', 'json', 'table'] satisfies ChangeFormat[])
        .default('diff'),
    )
    .addHelpText('after', planExamples)
    .action(async (policies: string[], parsed: ParsedExistingOptions) => {
      const { planExisting } = await import('./existing.ts');
      end(await planExisting(policies, existingOptions(policies, parsed), io));
    });
  withObjects(existing.command('apply'))
    .description('Change files, or with --cluster objects, as the rules want them.')
    .option('--output <path>', 'write all objects to a file, or to a folder, and leave the input as it is')
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
    .option('-u, --userinfo <file>', 'a UserInfo document: who makes the requests; goes with --operation')
    .addOption(
      new Option('--operation <operation>', 'what is done to each trigger').choices([
        'CREATE',
        'UPDATE',
        'DELETE',
      ]),
    )
    .option('--on-policy-update', 'only what happens when the policy is created or changed')
    .option(
      '--trigger <object...>',
      'only these triggers: NAME, KIND/NAME or KIND/NAMESPACE/NAME, with wildcards',
    )
    .option('-q, --quiet', 'print no summary and no progress')
    .option('--no-color', 'print without colours')
    .option('-c, --cluster', 'the objects of a cluster')
    .option('--kubeconfig <file>', 'how to reach the cluster; as kubectl finds it when absent')
    .option('--context <name>', 'a context of the kubeconfig')
    .option('-n, --namespace <namespace>', 'with --cluster: triggers of this namespace only');
}

export interface ExistingOptions extends ParsedExistingOptions {
  readonly occasion: Occasion;
}

/** Throws InputError for what cannot be run. */
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
  if (resource.length > 0 && cluster === true) throw refuse('-r and --cluster cannot stand together');
  if (cluster !== true && (kubeconfig ?? context ?? namespace) !== undefined) {
    throw refuse('--kubeconfig, --context and --namespace go with --cluster');
  }
  if (operation !== undefined && onPolicyUpdate === true) {
    throw refuse('--operation and --on-policy-update cannot stand together');
  }
  if (parsed.userinfo !== undefined && operation === undefined)
    throw refuse('--userinfo goes with --operation');
  if (parsed.output !== undefined && cluster === true)
    throw refuse('--output and --cluster cannot stand together');
  return { ...parsed, occasion: operation ?? (onPolicyUpdate === true ? 'policyUpdate' : 'reconcile') };
}
