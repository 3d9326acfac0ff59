import { blame } from '../../analysis/blame/blame.ts';
import type { Outcome, Result } from '../../engine/outcome.ts';
import { diff } from '../../json/diff/diff.ts';
import { equal } from '../../json/equal.ts';
import { parsePointer } from '../../json/pointer.ts';
import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path, valueAt } from '../../json/value.ts';
import { celCompilers } from '../../policy/cel/language.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { ExistingChanges } from './existing-changes.ts';
import type { Sample } from './sample.ts';

/** Which part of both forms causes a difference, as far as it can be told. */
export interface Fault {
  /** The rule of the old form. */
  readonly rule?: string | undefined;
  /** The policy of the converted form. */
  readonly policy?: string | undefined;
  /** The clause of that policy: `spec.mutations[0].jsonPatch.expression`. */
  readonly path?: string | undefined;
  /** The expression at that place. */
  readonly expression?: string | undefined;
  /** Where the objects differ, as a JSON pointer. */
  readonly objectPath?: string | undefined;
  readonly message: string;
}

interface Comparison {
  readonly old: Result;
  readonly converted: Result;
  readonly sample: Sample;
  /** Runs other policies on the same request. */
  readonly run: (policies: readonly CompiledPolicy[]) => Promise<Result>;
}

type Failed = Extract<Outcome, { status: 'failed' }>;

/** Finds the rule and the expression that a difference comes from. */
export async function findFault(comparison: Comparison): Promise<Fault> {
  const { old, converted } = comparison;
  const [oldFailure, newFailure] = [failureIn(old), failureIn(converted)];
  if (newFailure !== undefined && oldFailure === undefined) {
    const { policy, failure } = newFailure;
    return {
      rule: ruleFor(policy, old),
      ...clauseAt(policy, failure.rulePath),
      message: `only the converted policy fails: ${failure.detail}`,
    };
  }
  const fault = await contentFault(comparison);
  if (oldFailure === undefined || newFailure !== undefined) return fault;
  const { rule, failure } = oldFailure;
  return { ...fault, rule: rule.name, message: `only the old policy fails: ${failure.detail}` };
}

/** The first difference of what both forms did to existing objects. */
export function existingFault(old: ExistingChanges, converted: ExistingChanges): Fault {
  const path = 'spec.targetMatchConstraints';
  if (old.failure === undefined && converted.failure !== undefined)
    return { path, message: `only the converted policy fails on an existing object: ${converted.failure}` };
  if (old.failure !== undefined && converted.failure === undefined)
    return { path, message: `only the old policy fails on an existing object: ${old.failure}` };
  const index = old.objects.findIndex((object, at) => !equal(object, converted.objects[at] ?? null));
  const [operation] = diff(old.objects[index] ?? {}, converted.objects[index] ?? {});
  return { path, objectPath: operation?.path, message: 'the existing objects differ afterwards' };
}

function failureIn({ outcomes }: Result): Failed | undefined {
  return outcomes.find((outcome): outcome is Failed => outcome.status === 'failed');
}

async function contentFault({ old, converted, sample, run }: Comparison): Promise<Fault> {
  const [operation] = diff(old.object ?? {}, converted.object ?? {});
  const pointer = operation?.path ?? '';
  const oldWriter = writerOf(old, sample, pointer);
  const newWriter = writerOf(converted, sample, pointer);
  const policy = newWriter ?? involvedPolicy(converted, oldWriter?.rule);
  const where = policy === undefined ? {} : await clauseFor(policy.policy, converted, sample, pointer, run);
  return {
    rule: oldWriter?.rule ?? (policy && ruleFor(policy.policy, old)),
    ...where,
    objectPath: pointer,
    message: messageFor(oldWriter !== undefined, newWriter !== undefined),
  };
}

function messageFor(isOld: boolean, isNew: boolean): string {
  if (isOld && isNew) return 'both forms write this value, but not the same one';
  if (isOld) return 'only the old policy writes this value';
  return isNew ? 'only the converted policy writes this value' : 'the objects differ';
}

interface WriterNames {
  readonly rule: string;
  readonly policy: CompiledPolicy;
}

/** The rule that wrote the value at a pointer, a part of it, or a value around it. */
function writerOf(result: Result, { object }: Sample, pointer: string): WriterNames | undefined {
  const { changes } = blame(object, result);
  const change = changes.find(
    ({ path }) => path === pointer || path.startsWith(`${pointer}/`) || pointer.startsWith(`${path}/`),
  );
  return change && { rule: change.by.rule.name, policy: change.by.policy };
}

/** A converted policy that ran without writing: that of the rule if its name tells, otherwise the first one. */
function involvedPolicy({ outcomes }: Result, rule: string | undefined): WriterNames | undefined {
  const named = outcomes.find(({ policy }) => rule !== undefined && policy.name.endsWith(rule));
  const outcome = named ?? outcomes[0];
  return outcome && { rule: outcome.rule.name, policy: outcome.policy };
}

/** Converted policies are named after their rules. */
function ruleFor({ name }: CompiledPolicy, { outcomes }: Result): string | undefined {
  const names = outcomes.map(({ rule }) => rule.name);
  return names.find((rule) => name.endsWith(rule)) ?? names[0];
}

type Clause = Pick<Fault, 'policy' | 'path' | 'expression'>;

async function clauseFor(
  policy: CompiledPolicy,
  { outcomes }: Result,
  sample: Sample,
  pointer: string,
  run: Comparison['run'],
): Promise<Clause> {
  const skipped = outcomes.find((outcome) => outcome.policy === policy && outcome.status === 'skipped');
  if (skipped?.status === 'skipped') {
    if (skipped.reason.type === 'matchCondition') return clauseAt(policy, skipped.reason.path);
    return { policy: policy.name, path: 'spec.matchConstraints' };
  }
  const mutations = readObjects(readObject(policy.document, 'spec') ?? {}, 'mutations');
  const path = parsePointer(pointer);
  let before: Json | undefined = at(sample.object, path);
  let found = 0;
  for (const index of mutations.keys()) {
    const shortened = withMutations(policy, mutations.slice(0, index + 1));
    if (shortened === undefined) break;
    const { object } = await run([shortened]);
    const after = object === null ? undefined : at(object, path);
    if (!isSameValue(before, after)) found = index;
    before = after;
  }
  const isPatch = readObject(mutations[found] ?? {}, 'jsonPatch') !== undefined;
  const type = isPatch ? 'jsonPatch' : 'applyConfiguration';
  return clauseAt(policy, ['spec', 'mutations', found, type, 'expression']);
}

function at(object: JsonObject, tokens: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const token of tokens) {
    if (isArray(value)) value = value[Number(token)];
    else value = isObject(value) ? read(value, token) : undefined;
  }
  return value;
}

function isSameValue(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : equal(left, right);
}

function withMutations(policy: CompiledPolicy, mutations: readonly JsonObject[]): CompiledPolicy | undefined {
  const { document, kind, source } = policy;
  const shortened = { ...document, spec: { ...readObject(document, 'spec'), mutations } };
  const place = { file: source.file, positionOf: () => ({ line: source.line, column: 1 }) };
  const { policy: compiled } =
    kind === 'MutatingAdmissionPolicy'
      ? celCompilers.compileAdmissionPolicy(shortened, place)
      : celCompilers.compileMutatingPolicy(shortened, place, { strict: false });
  return compiled;
}

function clauseAt(policy: CompiledPolicy, path: Path): Clause {
  const value = valueAt(policy.document, path);
  const holder = isObject(value) ? readText(value, 'expression') : value;
  const expression = typeof holder === 'string' ? holder : undefined;
  return { policy: policy.name, path: formatPath(path), expression };
}

function formatPath(path: Path): string {
  return path
    .map((token) => (typeof token === 'number' ? `[${token}]` : `.${token}`))
    .join('')
    .replace(/^\./, '');
}
