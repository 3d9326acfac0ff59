import { refKey, refTitle } from '../../background/object-identity.ts';
import type { ObjectRef } from '../../background/ports.ts';
import type { ExistingStep } from '../../background/run/existing-run.ts';
import type { Change } from '../../background/store/overlay-store.ts';
import { diff } from '../../json/diff/diff.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Problem } from '../../problem.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { evaluationWarnings } from '../evaluation-warnings.ts';
import { maskPair } from './mask-secrets.ts';
import type { Paint } from './paint.ts';
import { unifiedDiff } from './unified-diff.ts';
import { visible } from './visible.ts';

export type ChangeFormat = 'diff' | 'yaml' | 'json' | 'table';

/** A change to an object, and the rules and triggers that cause it. */
export interface PlannedChange extends Change {
  readonly steps: readonly PlannedStep[];
}

/** A step, and the object before and after it if known. */
export interface PlannedStep extends ExistingStep {
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
}

export function plannedChanges(
  changes: readonly Change[],
  steps: readonly PlannedStep[],
): readonly PlannedChange[] {
  const byObject = new Map<string, PlannedStep[]>();
  for (const step of steps) {
    if (step.ref === undefined || !isWrite(step)) continue;
    const key = refKey(wholeObject(step.ref));
    byObject.set(key, [...(byObject.get(key) ?? []), step]);
  }
  return changes.map((change) => ({ ...change, steps: byObject.get(refKey(change.ref)) ?? [] }));
}

const writes: ReadonlySet<string> = new Set(['created', 'updated', 'deleted']);

export function isWrite({ action }: ExistingStep): boolean {
  return writes.has(action);
}

export function wholeObject({ uid: _, subresource: __, ...ref }: ObjectRef): ObjectRef {
  return ref;
}

const absent: ReadonlySet<string | undefined> = new Set(['KYM_TARGET_NOT_FOUND', 'KYM_SOURCE_NOT_FOUND']);

/** A missing target or source may exist in a cluster, so this is a warning and not a failure of the policy. */
export function isAbsence({ code }: ExistingStep): boolean {
  return absent.has(code);
}

export function formatChanges(
  changes: readonly PlannedChange[],
  format: ChangeFormat,
  paint: Paint,
  showSecrets = false,
): string {
  switch (format) {
    case 'diff':
      return changes.map((change) => diffText(change, paint, showSecrets)).join('');
    case 'yaml':
      return changes.flatMap(({ after }) => (after === undefined ? [] : [writeYaml(after)])).join('---\n');
    case 'json':
      return `${stringifyJson(changes.map(jsonOf), 2)}\n`;
    case 'table':
      return tableText(changes, paint);
  }
}

function diffText({ ref, steps, ...change }: PlannedChange, paint: Paint, showSecrets: boolean): string {
  const [before, after] = showSecrets ? [change.before, change.after] : maskPair(change.before, change.after);
  const title = refTitle(ref);
  const rules = rulesOf(steps).join(', ');
  const titles = {
    before: before === undefined ? '/dev/null' : title,
    after: after === undefined ? '/dev/null' : `${title}${rules === '' ? '' : ` (${rules})`}`,
  };
  const textOf = (object: Change['before']) => (object === undefined ? '' : writeYaml(object));
  return unifiedDiff(titles, textOf(before), textOf(after), paint);
}

function jsonOf({ ref, before, after, steps }: PlannedChange) {
  return {
    ...ref,
    action: actionOf({ ref, ...(before && { before }), ...(after && { after }) }),
    by: steps.map(({ policy, rule, trigger }) => ({
      policy: policy.key,
      rule: rule.name,
      trigger: refTitle(trigger),
    })),
    ...(before === undefined || after === undefined ? {} : { patch: diff(before, after) }),
    ...(after === undefined ? {} : { object: after }),
  };
}

export function actionOf({ before, after }: Change): 'create' | 'update' | 'delete' {
  if (before === undefined) return 'create';
  return after === undefined ? 'delete' : 'update';
}

export function rulesOf(steps: readonly ExistingStep[]): readonly string[] {
  return [...new Set(steps.map(({ policy, rule }) => `${policy.key}/${rule.name}`))];
}

const columns = ['ACTION', 'OBJECT', 'RULE', 'TRIGGER'] as const;

function tableText(changes: readonly PlannedChange[], paint: Paint): string {
  const rows = changes.map((change) =>
    [
      actionOf(change),
      refTitle(change.ref),
      rulesOf(change.steps).join(', '),
      [...new Set(change.steps.map(({ trigger }) => refTitle(trigger)))].join(', '),
    ].map(visible),
  );
  const widths = columns.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint('bold', line(columns)), ...rows.map(line)].map((text) => `${text}\n`).join('');
}

/** Objects without a rule that ran are not counted as triggers. */
export function summaryOf(changes: readonly Change[], steps: readonly ExistingStep[]): string {
  const count = (action: string) => changes.filter((change) => actionOf(change) === action).length;
  const failed = steps.filter(({ action }) => action === 'failed').length;
  const triggers = new Set(steps.map(({ trigger }) => refKey(trigger))).size;
  return `${triggers} trigger${triggers === 1 ? '' : 's'}; objects: ${count('update')} changed, ${count('create')} created, ${count('delete')} deleted; ${failed} failed\n`;
}

export function failureText(step: ExistingStep, paint: Paint): string {
  const { policy, rule, trigger, ref, message, code } = step;
  const target = ref === undefined ? '' : `${refTitle(ref)}, `;
  const end = code === undefined ? '' : ` [${code}]`;
  const text = `${target}policy ${policy.key}, rule ${rule.name}, trigger ${refTitle(trigger)}: ${message}`;
  return `${paint('red', 'failed')}: ${visible(text)}${end}`;
}

/** Warnings of a CEL policy about a target. */
export function stepWarnings(step: ExistingStep): readonly Problem[] {
  return evaluationWarnings(refTitle(step.ref ?? step.trigger), [step]);
}
