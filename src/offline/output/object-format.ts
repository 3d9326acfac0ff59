import { kindOf } from '../../admission/resource-request.ts';
import { blame } from '../../analysis/blame/blame.ts';
import { blameLines } from '../../analysis/blame/lines.ts';
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
import { unifiedDiff } from './unified-diff.ts';
import { visible } from './visible.ts';
import { editYaml } from './yaml-edit.ts';

export type ApplyFormat = 'diff' | 'blame' | 'yaml' | 'json' | 'patch' | 'table';

/** Formats results one by one. */
export interface ApplyFormatter {
  /** `evaluated` is undefined for an object that is not mutated, such as a policy. */
  object(resource: Resource, evaluated: Evaluated | undefined): string;
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
      return {
        object: (resource, evaluated) => diffOf(resource, evaluated, paint, showSecrets),
        end: () => '',
      };
    case 'blame':
      return {
        object: (resource, evaluated) => blameOf(resource, evaluated, paint, showSecrets),
        end: () => '',
      };
    case 'yaml':
      return yamlStream((resource, evaluated) => textOf(resource, evaluated));
    case 'json':
      return jsonList();
    case 'patch':
      return yamlStream((resource, evaluated) => patchOf(resource, evaluated));
    case 'table':
      return tableFormatter(paint, columns);
  }
}

/** The object to print: the mutated object without a defaulted namespace. */
export function resultOf(resource: Resource, evaluated: Evaluated | undefined): JsonObject {
  if (evaluated === undefined || evaluated.after === evaluated.before) return resource.object;
  return withoutDefaultNamespace(evaluated.after, resource.object);
}

function diffOf(
  resource: Resource,
  evaluated: Evaluated | undefined,
  paint: Paint,
  showSecrets: boolean,
): string {
  const result = resultOf(resource, evaluated);
  if (result === resource.object) return '';
  const title = titleOf(resource.object);
  const [before, after] = showSecrets ? [resource.object, result] : maskPair(resource.object, result);
  return unifiedDiff(
    { before: title, after: `${title} (mutated)` },
    writeYaml(before),
    writeYaml(after),
    paint,
  );
}

function blameOf(
  resource: Resource,
  evaluated: Evaluated | undefined,
  paint: Paint,
  showSecrets: boolean,
): string {
  const result = resultOf(resource, evaluated);
  if (evaluated === undefined || result === resource.object) return '';
  const title = titleOf(resource.object);
  const [before, after] = showSecrets ? [resource.object, result] : maskPair(resource.object, result);
  const found = blame(evaluated.before, { ...evaluated, object: evaluated.after });
  return blameText(title, blameLines(found, writeYaml(before), writeYaml(after)), paint);
}

/** An unchanged document is printed as written, comments included. */
export function textOf(resource: Resource, evaluated: Evaluated | undefined): string {
  const result = resultOf(resource, evaluated);
  const { object, text } = resource;
  if (text === undefined) return writeYaml(result);
  if (result !== object) return text.includes('#') ? editYaml(text, object, result) : writeYaml(result);
  return text.endsWith('\n') ? text : `${text}\n`;
}

function patchOf(resource: Resource, evaluated: Evaluated | undefined): string {
  if (evaluated === undefined || evaluated.after === evaluated.before) return '';
  const { object } = resource;
  const { group, version, kind } = kindOf(object);
  const namespace = namespaceOf(object);
  return writeYaml({
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    name: nameOf(object),
    ...(namespace === '' ? {} : { namespace }),
    patch: diff(evaluated.before, evaluated.after).map((operation) => ({ ...operation })),
  });
}

function yamlStream(print: (resource: Resource, evaluated: Evaluated | undefined) => string): ApplyFormatter {
  let isFirst = true;
  return {
    object: (resource, evaluated) => {
      const text = print(resource, evaluated);
      if (text === '') return '';
      const separator = isFirst ? '' : '---\n';
      isFirst = false;
      return separator + text;
    },
    end: () => '',
  };
}

/** One `List`, as `kubectl get -o json` prints. */
function jsonList(): ApplyFormatter {
  let isFirst = true;
  return {
    object: (resource, evaluated) => {
      const start = isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [\n' : ',\n';
      isFirst = false;
      return `${start}    ${stringifyJson(resultOf(resource, evaluated), 2).replaceAll('\n', '\n    ')}`;
    },
    end: () => (isFirst ? '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n' : '\n  ]\n}\n'),
  };
}

const heading = ['RESOURCE', 'POLICY', 'RULE', 'RESULT', 'MESSAGE'];

/** The first rows decide the column widths, so that the table need not be held in memory. */
const measuredRows = 500;
const colors = { pass: 'green', skip: 'yellow', error: 'red' } as const;

/** A row for each rule and object. */
export function tableFormatter(paint: Paint, columns: number | undefined) {
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
  return {
    object: (resource: Resource, evaluated: Evaluated | undefined) => {
      for (const outcome of evaluated?.outcomes ?? []) waiting.push(rowOf(resource, outcome));
      return widths === undefined && waiting.length < measuredRows ? '' : flush();
    },
    end: () => flush(),
  };
}

function rowOf({ object }: Resource, outcome: Outcome): string[] {
  const { policy, rule, message } = outcome;
  const firstLine = message.split('\n', 1)[0] ?? '';
  const status = reportStatus(outcome) ?? 'skip';
  return [titleOf(object), policy.key, rule.name, status, firstLine].map(visible);
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

export function countEvaluated(evaluated: Evaluated, counts: ApplyCounts): void {
  counts.objects++;
  if (evaluated.failedPolicies.length > 0) counts.failed++;
  else if (evaluated.after !== evaluated.before) counts.changed++;
  for (const outcome of evaluated.outcomes) {
    if (outcome.status === 'applied') counts.applied++;
    else if (outcome.status === 'failed') counts.rulesFailed++;
    else counts.skipped++;
  }
}

export function summaryOf(counts: ApplyCounts): string {
  const unchanged = counts.objects - counts.changed - counts.failed;
  const objects = `${counts.objects} object${counts.objects === 1 ? '' : 's'}`;
  return (
    `${objects}: ${counts.changed} changed, ${unchanged} unchanged, ${counts.failed} failed; ` +
    `rules: ${counts.applied} applied, ${counts.skipped} skipped, ${counts.rulesFailed} failed`
  );
}
