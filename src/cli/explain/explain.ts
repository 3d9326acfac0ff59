import { type BlamedChange, blame, type Writer } from '../../analysis/blame/blame.ts';
import { refKey, refOf, refTitle } from '../../background/object-identity.ts';
import type { Outcome } from '../../engine/outcome.ts';
import { diff } from '../../json/diff/diff.ts';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import type { Evaluated } from '../../offline/evaluator.ts';
import { nameOf, namespaceOf, titleOf } from '../../offline/object-identity.ts';
import { previewBackground } from '../../offline/output/background-preview.ts';
import { createSecretMask, noMask } from '../../offline/output/mask-secrets.ts';
import { isWrite, type PlannedStep, wholeObject } from '../../offline/output/planned-changes.ts';
import { operationLeaf, ruleBranch, type View } from '../../offline/output/rule-branch.ts';
import { type Branch, drawTree } from '../../offline/output/tree.ts';
import { visible } from '../../offline/output/visible.ts';
import type { Resource } from '../../offline/resource-documents.ts';
import { resourceRole } from '../../offline/resource-role.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { InputError, type Problem } from '../../problem.ts';
import { createCommandLog, type LogLevel } from '../command-log.ts';
import { type RunOptions, setUpRun } from '../input/run-setup.ts';
import type { ExitCode, Io } from '../io.ts';
import { holdOutput } from '../output/held-output.ts';
import { paintFor } from '../output/style.ts';

export interface ExplainOptions extends RunOptions {
  readonly format: 'text' | 'json';
  readonly color?: boolean | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly showSecrets?: boolean | undefined;
}

/** `kymera explain`: shows for each resource what every rule did or why it was skipped. */
export async function explain(
  policyNames: readonly string[],
  options: ExplainOptions,
  io: Io,
): Promise<ExitCode> {
  const run = await setUpRun(policyNames, options, io, { explain: true });
  const paint = paintFor(io.stdout, io, options.color);
  const width = io.stdout.isTTY ? io.stdout.columns : undefined;
  const log = createCommandLog(io, options);
  for (const problem of run.warnings) await log.warn(problem);
  const output = holdOutput(io.stdout);
  const errors: Problem[] = [];
  let hasFailed = false;
  let isFirst = true;
  const print = async (explained: Explained) => {
    const { evaluated, steps } = explained;
    const secrets = [evaluated.before, evaluated.after, ...steps.flatMap(objectsOf)];
    const mask = options.showSecrets === true ? noMask : createSecretMask(secrets);
    if (options.format === 'json') {
      await output.write(`${isFirst ? '[\n' : ',\n'}${stringifyJson(asJson(explained), 2)}`);
    } else {
      await output.write(`${isFirst ? '' : '\n'}${asText(explained, run.policies, { paint, mask }, width)}`);
    }
    isFirst = false;
  };
  const background = previewBackground(run.background);
  const held: Explained[] = [];
  for await (const item of run.items) {
    if ('problem' in item) {
      if (item.problem.severity === 'error') errors.push(item.problem);
      else await log.warn(item.problem);
      continue;
    }
    if (resourceRole(item.object) !== 'resource') continue;
    const evaluated = await run.evaluator.evaluate(item.object);
    hasFailed ||= evaluated.failedPolicies.length > 0;
    background?.admitted(evaluated.after);
    if (background === undefined) await print({ resource: item, evaluated, steps: [] });
    else held.push({ resource: item, evaluated, steps: [] });
  }
  if (background !== undefined) {
    const { steps } = await background.finish();
    for (const explained of held) await print({ ...explained, steps: stepsOf(explained, steps) });
  }
  if (errors.length > 0) {
    await output.discard();
    throw new InputError(errors);
  }
  if (options.format === 'json') await output.write(isFirst ? '[]\n' : '\n]\n');
  await output.release();
  for (const problem of run.lateWarnings()) await log.warn(problem);
  await log.release();
  return hasFailed ? 1 : 0;
}

interface Explained {
  readonly resource: Resource;
  readonly evaluated: Evaluated;
  /** What background rules do when this object is their trigger. */
  readonly steps: readonly PlannedStep[];
}

function stepsOf({ evaluated }: Explained, steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const key = refKey(wholeObject(refOf(evaluated.after)));
  return steps.filter(({ trigger }) => refKey(wholeObject(trigger)) === key);
}

function objectsOf({ before, after }: PlannedStep): readonly JsonObject[] {
  return [before, after].filter((object) => object !== undefined);
}

function asText(
  explained: Explained,
  policies: readonly CompiledPolicy[],
  view: View,
  width: number | undefined,
): string {
  const { resource } = explained;
  const title = view.paint('bold', visible(titleOf(resource.object)));
  const tree = {
    text: `${title} (${visible(resource.file)}:${resource.line})`,
    below: inOrder(policies, explained.evaluated).map((policy) => policyBranch(policy, explained, view)),
  };
  return drawTree(tree, width);
}

/** The order in which the policies ran: of several kinds, ClusterPolicies are first. */
function inOrder(policies: readonly CompiledPolicy[], { outcomes }: Evaluated): readonly CompiledPolicy[] {
  const ran = new Set(outcomes.map(({ policy }) => policy));
  return [...new Set([...[...ran].filter((policy) => policies.includes(policy)), ...policies])];
}

function policyBranch(policy: CompiledPolicy, { evaluated, steps }: Explained, view: View): Branch {
  const { paint } = view;
  const outcomes = evaluated.outcomes.filter((outcome) => outcome.policy === policy);
  const dropped = evaluated.failedPolicies.includes(policy)
    ? `: ${paint('red', 'a rule failed, so none of its changes are kept')}`
    : '';
  const stepBranches = (rule: string) =>
    steps
      .filter((step) => step.policy === policy && step.rule.name === rule)
      .map((step) => stepBranch(step, view));
  return {
    text: `policy ${paint('bold', visible(policy.key))}${dropped}`,
    below: [
      ...outcomes.map((outcome) =>
        isBackground(outcome)
          ? backgroundBranch(outcome.rule.name, 'changes existing objects', stepBranches)
          : ruleBranch(outcome, view),
      ),
      ...policy.generateRules.map(({ name }) => backgroundBranch(name, 'generates objects', stepBranches)),
      ...policy.otherRules.map(({ name, type }) => ({
        text: `- rule ${visible(name)}: ${type} rules are ignored`,
        below: [],
      })),
    ],
  };
}

function isBackground(outcome: Outcome): boolean {
  return outcome.status === 'skipped' && outcome.reason.type === 'mutateExisting';
}

function backgroundBranch(name: string, action: string, stepBranches: (rule: string) => Branch[]): Branch {
  const below = stepBranches(name);
  const isIdle = below.length === 0 ? '; nothing for this object' : '';
  const text = `- rule ${visible(name)}: ${action} in the background${isIdle}; see kymera existing plan`;
  return { text, below };
}

function stepBranch(step: PlannedStep, { paint, mask }: View): Branch {
  const { ref, trigger, action, message, before, after } = step;
  const symbol = isWrite(step) ? paint('green', '✓') : action === 'failed' ? paint('red', '✗') : '-';
  const operations = before === undefined || after === undefined ? [] : diff(before, after);
  return {
    text: `${symbol} ${visible(refTitle(ref ?? trigger))}: ${action}: ${visible(mask.text(message))}`,
    below: operations.map((operation) => operationLeaf(operation, mask)),
  };
}

function asJson({ resource, evaluated, steps }: Explained): JsonObject {
  const { object, file, line } = resource;
  return {
    resource: {
      apiVersion: object['apiVersion'] ?? '',
      kind: object['kind'] ?? '',
      namespace: namespaceOf(object),
      name: nameOf(object),
      file,
      line,
    },
    changed: evaluated.after !== evaluated.before,
    failedPolicies: evaluated.failedPolicies.map((policy) => policy.key),
    blame: blame(evaluated.before, { ...evaluated, object: evaluated.after }).changes.map(blameAsJson),
    outcomes: evaluated.outcomes.map(outcomeAsJson),
    ...(steps.length > 0 && { background: steps.map(stepAsJson) }),
  };
}

function stepAsJson(step: PlannedStep): JsonObject {
  const { ref, trigger, action, message, before, after } = step;
  const { apiVersion, kind, namespace, name } = ref ?? trigger;
  const patch = before === undefined || after === undefined ? {} : plainJson({ patch: diff(before, after) });
  return { ...writerAsJson(step), object: { apiVersion, kind, namespace, name }, action, message, ...patch };
}

function blameAsJson({ op, path, by, earlier }: BlamedChange): JsonObject {
  return { op, path, ...writerAsJson(by), ...(earlier.length > 0 && { earlier: earlier.map(writerAsJson) }) };
}

function writerAsJson({ policy, rule }: Writer): JsonObject {
  return { policy: policy.key, rule: rule.name };
}

function outcomeAsJson(outcome: Outcome): JsonObject {
  const { policy, rule, status, message } = outcome;
  const head = {
    policy: policy.key,
    rule: rule.name,
    ...(rule.autogenOf === undefined ? {} : { autogenOf: rule.autogenOf }),
    status,
    message,
    ...(outcome.trace === undefined ? {} : plainJson({ variables: outcome.trace.variables })),
  };
  switch (outcome.status) {
    case 'applied': {
      const { patch, misses, elements, warnings } = outcome;
      return { ...head, ...plainJson({ patch, misses, elements, warnings }) };
    }
    case 'unchanged': {
      const { misses, elements, warnings } = outcome;
      return { ...head, ...plainJson({ misses, elements, warnings }) };
    }
    case 'skipped':
      return { ...head, ...plainJson({ reason: outcome.reason }) };
    case 'failed':
      return { ...head, ...plainJson({ failure: outcome.failure }) };
  }
}

/** Outcomes contain only data. Undefined members are dropped. */
function plainJson(value: object): JsonObject {
  return parseJson(stringifyJson(value)) as Record<string, Json>;
}
