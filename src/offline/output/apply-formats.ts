import { kindOf } from '../../admission/resource-request.ts';
import { blameWrites, writesOf } from '../../analysis/blame/blame.ts';
import { blameLines } from '../../analysis/blame/lines.ts';
import { refTitle } from '../../background/object-identity.ts';
import type { Outcome } from '../../engine/outcome.ts';
import { diff } from '../../json/diff/diff.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { type Evaluated, reportStatus } from '../evaluator.ts';
import { nameOf, namespaceOf, titleOf, withoutDefaultNamespace } from '../object-identity.ts';
import type { Resource } from '../resource-documents.ts';
import { blameText } from './blame-text.ts';
import { maskPair } from './mask-secrets.ts';
import type { Paint } from './paint.ts';
import { isAbsence, isWrite, type PlannedChange, type PlannedStep, rulesOf } from './planned-changes.ts';
import { unifiedDiff } from './unified-diff.ts';
import { visible } from './visible.ts';
import { editYaml, withLineEndingsOf } from './yaml-edit.ts';

export type ApplyFormat = 'diff' | 'blame' | 'yaml' | 'json' | 'patch' | 'table';

/** An object to print. */
export interface AppliedObject {
  readonly resource: Resource;
  /** Undefined for an object that is not mutated, such as a policy. */
  readonly evaluated?: Evaluated | undefined;
  /** What background rules do to the object after its admission. */
  readonly change?: PlannedChange | undefined;
}

/** Formats results one by one. */
export interface ApplyFormatter {
  object(applied: AppliedObject): string;
  /** Steps of background rules, which only a table lists. */
  steps(steps: readonly PlannedStep[]): string;
  end(): string;
}

export interface FormatOptions {
  /** The width of the terminal, for a table. */
  readonly columns?: number | undefined;
  /** Print the values of Secrets in a diff. */
  readonly showSecrets?: boolean | undefined;
}

export function createFormatter(
  format: ApplyFormat,
  paint: Paint,
  { columns, showSecrets = false }: FormatOptions,
): ApplyFormatter {
  switch (format) {
    case 'diff':
      return oneByOne((applied) => diffOf(applied, paint, showSecrets));
    case 'blame':
      return oneByOne((applied) => blameOf(applied, paint, showSecrets));
    case 'yaml':
      return yamlStream(textOf);
    case 'json':
      return jsonList();
    case 'patch':
      return yamlStream(patchOf);
    case 'table':
      return tableFormatter(paint, columns);
  }
}

function oneByOne(print: (applied: AppliedObject) => string): ApplyFormatter {
  return { object: print, steps: () => '', end: () => '' };
}

/** The object to print, without a defaulted namespace. Undefined if a background rule deletes it. */
export function resultOf({ resource, evaluated, change }: AppliedObject): JsonObject | undefined {
  if (change !== undefined) return change.after && withoutDefaultNamespace(change.after, resource.object);
  if (evaluated === undefined || evaluated.after === evaluated.before) return resource.object;
  return withoutDefaultNamespace(evaluated.after, resource.object);
}

/** Both sides of a diff; undefined if nothing changed. */
function sidesOf(applied: AppliedObject, showSecrets: boolean) {
  const { resource, change } = applied;
  const result = resultOf(applied);
  const isNew = change !== undefined && change.before === undefined;
  if (!isNew && result === resource.object) return undefined;
  const sides = [isNew ? undefined : resource.object, result] as const;
  const [before, after] = showSecrets ? sides : maskPair(...sides);
  return { before, after };
}

function diffOf(applied: AppliedObject, paint: Paint, showSecrets: boolean): string {
  const sides = sidesOf(applied, showSecrets);
  if (sides === undefined) return '';
  const { before, after } = sides;
  const { resource, evaluated, change } = applied;
  const title = titleOf(resource.object);
  const authors = [
    ...(evaluated === undefined || evaluated.after === evaluated.before ? [] : ['mutated']),
    ...rulesOf(change?.steps ?? []),
  ];
  const titles = {
    before: before === undefined ? '/dev/null' : title,
    after: after === undefined ? '/dev/null' : `${title} (${authors.join(', ')})`,
  };
  return unifiedDiff(titles, yamlOf(before), yamlOf(after), paint);
}

function blameOf(applied: AppliedObject, paint: Paint, showSecrets: boolean): string {
  const sides = sidesOf(applied, showSecrets);
  if (sides === undefined) return '';
  const { resource, evaluated, change } = applied;
  const writes = [
    ...(evaluated === undefined ? [] : writesOf(evaluated)),
    ...(change?.steps ?? []).map((step) => ({ ...step, before: step.before ?? {}, after: step.after ?? {} })),
  ];
  const first = evaluated?.before ?? change?.before ?? {};
  const last = (change === undefined ? evaluated?.after : change.after) ?? {};
  const found = blameWrites(first, writes, last);
  return blameText(
    titleOf(resource.object),
    blameLines(found, yamlOf(sides.before), yamlOf(sides.after)),
    paint,
  );
}

function yamlOf(object: JsonObject | undefined): string {
  return object === undefined ? '' : writeYaml(object);
}

/** An unchanged document is printed as written, comments included. '' if a background rule deletes it. */
export function textOf(applied: AppliedObject): string {
  const result = resultOf(applied);
  if (result === undefined) return '';
  const { object, text } = applied.resource;
  if (text === undefined) return writeYaml(result);
  if (result !== object) return editYaml(text, object, result);
  return text.endsWith('\n') ? text : `${text}${withLineEndingsOf(text, '\n')}`;
}

function patchOf({ resource, evaluated, change }: AppliedObject): string {
  const before = evaluated?.before ?? change?.before;
  const after = change === undefined ? evaluated?.after : change.after;
  if (before === undefined || after === undefined || before === after) return '';
  const { object } = resource;
  const { group, version, kind } = kindOf(object);
  const namespace = namespaceOf(object);
  return writeYaml({
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    name: nameOf(object),
    ...(namespace === '' ? {} : { namespace }),
    patch: diff(before, after).map((operation) => ({ ...operation })),
  });
}

function yamlStream(print: (applied: AppliedObject) => string): ApplyFormatter {
  let isFirst = true;
  return oneByOne((applied) => {
    const text = print(applied);
    if (text === '') return '';
    const separator = isFirst ? '' : withLineEndingsOf(text, '---\n');
    isFirst = false;
    return separator + text;
  });
}

/** One `List`, as `kubectl get -o json` prints. */
function jsonList(): ApplyFormatter {
  let isFirst = true;
  return {
    object: (applied) => {
      const result = resultOf(applied);
      if (result === undefined) return '';
      const start = isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [\n' : ',\n';
      isFirst = false;
      return `${start}    ${stringifyJson(result, 2).replaceAll('\n', '\n    ')}`;
    },
    steps: () => '',
    end: () => (isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n' : '\n  ]\n}\n'),
  };
}

const heading = ['RESOURCE', 'POLICY', 'RULE', 'RESULT', 'MESSAGE'];

/** The first rows decide the column widths, so that the table need not be held in memory. */
const measuredRows = 500;
const colors = { pass: 'green', skip: 'yellow', error: 'red' } as const;

/** A row for each rule and object. */
function tableFormatter(paint: Paint, columns: number | undefined): ApplyFormatter {
  let waiting: string[][] = [];
  let widths: readonly number[] | undefined;
  const line = (row: readonly string[], isHeading: boolean) => {
    const cells = row.map((cell, index) => cell.padEnd(index === 4 ? 0 : (widths?.[index] ?? 0)));
    const plainText = cells.join('  ').trimEnd();
    const cut = columns !== undefined && plainText.length > columns ? plainText.slice(0, columns - 1) : '';
    const text = cut === '' ? plainText : `${cut}…`;
    if (isHeading) return `${paint('bold', text)}\n`;
    const color = colors[row[3] as keyof typeof colors];
    return `${color === undefined ? text : text.replace(/ (?:pass|skip|error)(?= |$)/, (word) => paint(color, word))}\n`;
  };
  const flush = () => {
    if (widths === undefined) {
      const measured = [heading, ...waiting];
      widths = heading.map((_, index) => Math.max(...measured.map((row) => (row[index] ?? '').length)));
      waiting.unshift(heading);
    }
    const text = waiting.map((row) => line(row, row === heading)).join('');
    waiting = [];
    return text;
  };
  const add = (rows: readonly string[][]) => {
    waiting.push(...rows);
    return widths === undefined && waiting.length < measuredRows ? '' : flush();
  };
  return {
    object: ({ resource, evaluated }) =>
      add((evaluated?.outcomes ?? []).map((outcome) => rowOf(resource, outcome))),
    steps: (steps) => add(steps.map(stepRow)),
    end: () => flush(),
  };
}

function rowOf({ object }: Resource, outcome: Outcome): string[] {
  const { policy, rule, message } = outcome;
  const status = reportStatus(outcome) ?? 'skip';
  return [titleOf(object), policy.key, rule.name, status, firstLine(message)].map(visible);
}

function stepRow(step: PlannedStep): string[] {
  const { policy, rule, trigger, ref = trigger, message } = step;
  const status = isWrite(step) ? 'pass' : step.action === 'failed' ? 'error' : 'skip';
  const text = `${firstLine(message)} (trigger ${refTitle(trigger)})`;
  return [refTitle(ref), policy.key, rule.name, status, text].map(visible);
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

export interface ApplyCounts {
  objects: number;
  changed: number;
  failed: number;
  applied: number;
  skipped: number;
  rulesFailed: number;
}

export function noCounts(): ApplyCounts {
  return { objects: 0, changed: 0, failed: 0, applied: 0, skipped: 0, rulesFailed: 0 };
}

export function countObject({ evaluated, change }: AppliedObject, counts: ApplyCounts): void {
  if (evaluated === undefined && change === undefined) return;
  counts.objects++;
  if (evaluated !== undefined && evaluated.failedPolicies.length > 0) counts.failed++;
  else if (change !== undefined || evaluated?.after !== evaluated?.before) counts.changed++;
  for (const { status } of evaluated?.outcomes ?? []) {
    if (status === 'applied') counts.applied++;
    else if (status === 'failed') counts.rulesFailed++;
    else counts.skipped++;
  }
}

/** A step whose target may exist in a cluster (see `isAbsence`) counts as skipped. */
export function countStep(step: PlannedStep, counts: ApplyCounts): void {
  if (isWrite(step)) counts.applied++;
  else if (step.action === 'failed' && !isAbsence(step)) counts.rulesFailed++;
  else counts.skipped++;
}

export function summaryOf(counts: ApplyCounts): string {
  const unchanged = counts.objects - counts.changed - counts.failed;
  const objects = `${counts.objects} object${counts.objects === 1 ? '' : 's'}`;
  const summary =
    `${objects}: ${counts.changed} changed, ${unchanged} unchanged, ${counts.failed} failed; ` +
    `rules: ${counts.applied} applied, ${counts.skipped} skipped, ${counts.rulesFailed} failed`;
  const considered = counts.applied + counts.skipped + counts.rulesFailed;
  const isUnmatched = counts.objects > 0 && considered === 0;
  return isUnmatched ? `${summary}\nNo rule selects these objects. kymera explain shows why.` : summary;
}
