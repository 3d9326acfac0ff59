import { stepFits, type Write } from '../../src/analysis/writes/write-step.ts';
import { identityOf } from '../../src/json/diff/item-identity.ts';
import { equal } from '../../src/json/equal.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import type { PatchOperation } from '../../src/json/patch/operation.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../src/json/value.ts';

/** A place on the way from the root: the key or index, and what stands there before and after. */
interface Step {
  readonly token: string | number;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The places that the operations change and that no write covers. */
export function uncoveredPlaces(
  start: JsonObject,
  patch: readonly PatchOperation[],
  writes: readonly Write[],
): readonly string[] {
  let object: Json = start;
  return patch.flatMap((operation) => {
    const before = object;
    object = applyPatch(object, [operation]);
    return changes(before, object, [], writes).map((place) => `${operation.op} ${operation.path}: ${place}`);
  });
}

function changes(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly Step[],
  writes: readonly Write[],
): readonly string[] {
  if (before === after || (before !== undefined && after !== undefined && equal(before, after))) return [];
  if (isCovered(path, writes)) return [];
  if (isArray(after) && (isArray(before) || before === undefined || before === null))
    return listChanges(before ?? [], after, path, writes);
  if (isObject(after)) return mapChanges(isObject(before) ? before : {}, after, path, writes);
  return [shown(path)];
}

function mapChanges(
  before: JsonObject,
  after: JsonObject,
  path: readonly Step[],
  writes: readonly Write[],
): readonly string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // A parent that was made for something that is then not written.
  if (keys.length === 0) return isOnTheWay(path, writes) ? [] : [shown(path)];
  return keys.flatMap((token) => {
    const [was, is] = [member(before, token), member(after, token)];
    return changes(was, is, [...path, { token, before: was, after: is }], writes);
  });
}

/** An operation on one item leaves the others in place; one on the whole list may move them. */
function listChanges(
  before: readonly Json[],
  after: readonly Json[],
  path: readonly Step[],
  writes: readonly Write[],
): readonly string[] {
  if (after.length === 0 && before.length === 0) return isOnTheWay(path, writes) ? [] : [shown(path)];
  const inPlace =
    before.length === after.length ? pairChanges(byIndex(before, after), path, writes) : undefined;
  return inPlace?.length === 0 ? [] : pairChanges(byIdentity(before, after), path, writes);
}

function pairChanges(
  pairs: readonly Step[],
  path: readonly Step[],
  writes: readonly Write[],
): readonly string[] {
  return pairs.flatMap((pair) => changes(pair.before, pair.after, [...path, pair], writes));
}

function byIndex(before: readonly Json[], after: readonly Json[]): readonly Step[] {
  return after.map((item, token) => ({ token, before: before[token], after: item }));
}

/** Items are the same by what identifies them, wherever they stand. */
function byIdentity(before: readonly Json[], after: readonly Json[]): readonly Step[] {
  const left = before.map((item, token) => ({ item, token }));
  const take = (test: (other: Json) => boolean): Json | undefined => {
    const at = left.findIndex(({ item }) => test(item));
    return at < 0 ? undefined : left.splice(at, 1)[0]?.item;
  };
  const changed = after
    .map((item, token) => ({ item, token }))
    .filter(({ item }) => take((other) => equal(other, item)) === undefined);
  const kept = changed.map(({ item, token }) => {
    const identity = identityOf(item);
    const was = identity === undefined ? undefined : take((other) => identityOf(other) === identity);
    return { token, before: was, after: item };
  });
  return [...kept, ...left.map(({ item, token }) => ({ token, before: item, after: undefined }))];
}

function isCovered(path: readonly Step[], writes: readonly Write[]): boolean {
  return writes.some(
    (write) => write.path.length <= path.length && write.path.every((step, index) => fits(step, path[index])),
  );
}

function isOnTheWay(path: readonly Step[], writes: readonly Write[]): boolean {
  return writes.some((write) =>
    path.every((place, index) => {
      const step = write.path[index];
      return step === undefined || fits(step, place);
    }),
  );
}

function fits(step: Write['path'][number], place: Step | undefined): boolean {
  if (place === undefined) return false;
  return stepFits(step, place.token, place.after) || stepFits(step, place.token, place.before);
}

function shown(path: readonly Step[]): string {
  return `/${path.map(({ token }) => token).join('/')}`;
}
