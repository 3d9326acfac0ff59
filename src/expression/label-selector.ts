import { isArray, isObject, type Json, type JsonObject, member, type Path } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import { compileWildcard, hasWildcard } from './wildcard.ts';

export type Labels = Readonly<Record<string, Json>>;

export interface CompiledLabelSelector {
  readonly document: JsonObject;
  matches(labels: Labels): boolean;
}

type LabelTest = (labels: Labels) => boolean;

/**
 * A Kubernetes label selector. With `wildcards`, `matchLabels` keys and values may hold `*` and `?`: one label that
 * matches both is enough. `matchExpressions` do not support wildcards.
 */
export function compileLabelSelector(
  selector: Json,
  path: Path,
  reporter: Reporter,
  options: { readonly wildcards: boolean },
): CompiledLabelSelector | undefined {
  if (!isObject(selector)) {
    reporter.error(path, 'KYM_LABEL_SELECTOR', 'a label selector must be an object');
    return undefined;
  }
  const tests: LabelTest[] = [];
  let sound = true;
  const problem = (at: Path, message: string, hint?: string): void => {
    sound = false;
    reporter.error([...path, ...at], 'KYM_LABEL_SELECTOR', message, hint);
  };
  for (const key of Object.keys(selector)) {
    if (key !== 'matchLabels' && key !== 'matchExpressions') {
      problem([key], `unknown field "${key}"`, 'A label selector has matchLabels and matchExpressions.');
    }
  }
  compileMatchLabels(member(selector, 'matchLabels') ?? {}, options.wildcards, tests, problem);
  compileMatchExpressions(member(selector, 'matchExpressions') ?? [], tests, problem);
  if (!sound) return undefined;
  return { document: selector, matches: (labels) => tests.every((test) => test(labels)) };
}

type ReportProblem = (at: Path, message: string, hint?: string) => void;

function compileMatchLabels(
  value: Json,
  wildcards: boolean,
  tests: LabelTest[],
  problem: ReportProblem,
): void {
  if (!isObject(value)) {
    problem(['matchLabels'], 'matchLabels is an object');
    return;
  }
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') problem(['matchLabels', key], 'a label value is a string', 'Quote it.');
    else if (wildcards && (hasWildcard(key) || hasWildcard(text))) tests.push(someLabel(key, text));
    else tests.push((labels) => Object.hasOwn(labels, key) && labels[key] === text);
  }
}

function someLabel(keyPattern: string, valuePattern: string): LabelTest {
  const key = compileWildcard(keyPattern);
  const value = compileWildcard(valuePattern);
  return (labels) => {
    for (const name of Object.keys(labels)) {
      const text = labels[name];
      if (typeof text === 'string' && key.matches(name) && value.matches(text)) return true;
    }
    return false;
  };
}

function compileMatchExpressions(value: Json, tests: LabelTest[], problem: ReportProblem): void {
  if (!isArray(value)) {
    problem(['matchExpressions'], 'matchExpressions is a list');
    return;
  }
  for (const [index, entry] of value.entries()) {
    const at = ['matchExpressions', index];
    const test = isObject(entry) ? compileExpressionEntry(entry, at, problem) : undefined;
    if (test !== undefined) tests.push(test);
    else if (!isObject(entry)) problem(at, 'an entry of matchExpressions is an object');
  }
}

function compileExpressionEntry(entry: JsonObject, at: Path, problem: ReportProblem): LabelTest | undefined {
  const key = member(entry, 'key');
  const operator = member(entry, 'operator');
  const values = member(entry, 'values') ?? [];
  if (typeof key !== 'string' || key === '') {
    problem([...at, 'key'], 'key is a label key');
    return undefined;
  }
  if (!isArray(values) || !values.every((item) => typeof item === 'string')) {
    problem([...at, 'values'], 'values is a list of strings');
    return undefined;
  }
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (
    wantsValues !== values.length > 0 &&
    (wantsValues || operator === 'Exists' || operator === 'DoesNotExist')
  ) {
    problem(
      [...at, 'values'],
      wantsValues ? `${operator} needs values` : `${String(operator)} takes no values`,
    );
    return undefined;
  }
  const set: ReadonlySet<Json> = new Set(values);
  const has: LabelTest = (labels) => Object.hasOwn(labels, key);
  switch (operator) {
    case 'In':
      return (labels) => has(labels) && set.has(labels[key] ?? null);
    case 'NotIn':
      return (labels) => !has(labels) || !set.has(labels[key] ?? null);
    case 'Exists':
      return has;
    case 'DoesNotExist':
      return (labels) => !has(labels);
    default:
      problem([...at, 'operator'], 'the operator is In, NotIn, Exists or DoesNotExist');
      return undefined;
  }
}
