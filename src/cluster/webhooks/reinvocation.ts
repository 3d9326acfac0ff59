import { readObject } from '../../json/read-field.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import { readOperations } from '../../policy/check/json-patch-operations.ts';
import { patchDocuments } from '../../policy/check/patch-writes.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';

const annotation = 'kymera.io/reinvocation';

/**
 * Whether a policy may be called again on its own result, when a later webhook has changed the object: not when a second
 * run would insert or remove another list item, or compute another value.
 */
export function mayBeReinvoked(policy: CompiledPolicy): boolean {
  const written = policy.annotations[annotation];
  if (written === 'never') return false;
  return policy.rules.every(
    (rule) =>
      rule.targets !== undefined ||
      (!changesListsByIndex(rule.document) && !dependsOnTheMoment(rule.document)),
  );
}

function changesListsByIndex(rule: Parameters<typeof readObject>[0]): boolean {
  return patchDocuments(readObject(rule, 'mutate') ?? {}, []).some(
    (patch) =>
      patch.form === 'operations' &&
      readOperations(patch.content).some(({ op, path }) => movesItems.has(op) && endsInIndex(path)),
  );
}

const movesItems: ReadonlySet<string> = new Set(['add', 'remove', 'copy', 'move']);

/** `/spec/containers/0`, `/-`, `/-1`, and an index that a loop fills in; the old dialect also ends paths in `/`. */
function endsInIndex(path: string): boolean {
  const last = path.replace(/\/$/, '').replace(/^.*\/(?![^{]*\}\})/s, '');
  return /^(-|-?\d+)$/.test(last) || /^\{\{.*\}\}$/s.test(last);
}

const momentary = /\b(random|time_now|time_now_utc|time_since)\s*\(/;

function dependsOnTheMoment(value: Json): boolean {
  if (typeof value === 'string') return momentary.test(value);
  if (isArray(value)) return value.some(dependsOnTheMoment);
  return isObject(value) && Object.values(value).some(dependsOnTheMoment);
}
