import { sameStep, type Write, type WriteStep } from '../../analysis/writes/write-step.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { escapeToken } from '../../json/pointer.ts';
import { isObject, type Json } from '../../json/value.ts';

/** A path in objects of a kind, in a notation of GitOps tools. */
export type IgnoredPath =
  /** RFC 6901; exact. */
  | { readonly type: 'pointer'; readonly text: string }
  /** A jq path expression, for paths that a pointer cannot express: items of a list, any member. */
  | { readonly type: 'jq'; readonly text: string };

/** Undefined for a write that may be anywhere in the object. */
export function ignoredPath(write: Write, others: readonly Write[]): IgnoredPath | undefined {
  const steps = addressable(write, others);
  if (steps.length === 0) return undefined;
  const names = steps.map((step) => (step.type === 'key' ? step.name : undefined));
  return names.every((name) => name !== undefined)
    ? { type: 'pointer', text: names.map((name) => `/${escapeToken(name)}`).join('') }
    : { type: 'jq', text: jqPath(steps) };
}

const index = /^\d+$/;

/**
 * When items are added or removed, an index does not identify an item, so the path addresses all items. A removed item cannot be
 * addressed, so the path addresses the list.
 */
function addressable({ path, effect }: Write, others: readonly Write[]): readonly WriteStep[] {
  const moves = (list: readonly WriteStep[]) =>
    others.some(
      (other) =>
        (other.effect === 'item' || other.effect === 'remove') &&
        other.path.length === list.length + 1 &&
        isItem(other.path.at(-1)) &&
        startsWith(other.path, list),
    );
  const last = path.at(-1);
  const place = effect === 'remove' && isItem(last) && last?.type !== 'item' ? path.slice(0, -1) : path;
  return place.map((step, at) =>
    step.type === 'key' && index.test(step.name) && moves(place.slice(0, at)) ? { type: 'any' } : step,
  );
}

function isItem(step: WriteStep | undefined): boolean {
  return step !== undefined && (step.type !== 'key' || index.test(step.name));
}

function startsWith(path: readonly WriteStep[], start: readonly WriteStep[]): boolean {
  return start.every((step, at) => {
    const other = path[at];
    return other !== undefined && sameStep(step, other);
  });
}

/** Whether one write is inside another, so that ignoring the other is enough. */
export function isInside(write: Write, other: Write): boolean {
  return write.path.length > other.path.length && startsWith(write.path, other.path);
}

function jqPath(steps: readonly WriteStep[]): string {
  let text = '';
  for (const step of steps) {
    const isAfterSelect = text.endsWith(')');
    if (step.type === 'item') text += `${text === '' ? '.' : ''}[]? | select(${jqCondition(step.where)})`;
    else {
      const next = jqStep(step);
      text += isAfterSelect ? ` | ${next.startsWith('.') ? next : `.${next}`}` : next;
    }
  }
  return text.startsWith('.') ? text : `.${text}`;
}

function jqStep(step: Exclude<WriteStep, { type: 'item' }>): string {
  if (step.type === 'any') return '[]?';
  if (index.test(step.name)) return `[${step.name}]?`;
  return /^[A-Za-z_]\w*$/.test(step.name) ? `.${step.name}` : `[${JSON.stringify(step.name)}]`;
}

/** Numbers and strings compare as in merge keys: `80` equals `"80"`. */
function jqCondition(where: Json): string {
  if (!isObject(where)) return `. == ${stringifyJson(where)}`;
  return Object.entries(where)
    .map(([key, value]) => {
      const member = /^[A-Za-z_]\w*$/.test(key) ? `.${key}?` : `.[${JSON.stringify(key)}]?`;
      return typeof value === 'string'
        ? `${member} == ${stringifyJson(value)}`
        : `(${member} | tostring) == ${JSON.stringify(String(value))}`;
    })
    .join(' and ');
}
