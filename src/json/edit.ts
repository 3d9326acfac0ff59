import { spendSteps } from './budget.ts';
import type { Draft } from './draft.ts';
import {
  countMembers,
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
  type Path,
  type PathToken,
} from './value.ts';

// Copy-on-write edits. Each returns its input (===) when nothing changes, and never modifies it unless a draft owns it.
// Spread and computed names define own members, so `__proto__` is a key like any other.

/**
 * Creates an empty object like `{}`, with the same prototype but with hidden classes of its own. Those of `{}` are shared
 * with most objects in the process, and adding members to it takes longer: strategic merges took 7 % more time.
 */
const Members = emptyObject as unknown as new () => Record<string, Json>;
function emptyObject(): void {}
emptyObject.prototype = Object.prototype;

/**
 * A copy to modify with `assignMember`, charged with a step for each member. The first new member of a spread copy would cost
 * V8 a new hidden class, about a microsecond.
 */
export function copyMembers(object: JsonObject): Record<string, Json> {
  const copy = new Members();
  let count = 0;
  for (const key in object) {
    assignMember(copy, key, object[key] as Json);
    count++;
  }
  spendSteps(count);
  return copy;
}

/** Keys come from users: `__proto__` is a member like any other. */
export function assignMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

export function setMember(object: JsonObject, key: string, value: Json, draft?: Draft): JsonObject {
  if (Object.hasOwn(object, key) && object[key] === value) return object;
  const target = editableMembers(object, draft);
  assignMember(target, key, value);
  return target;
}

export function removeMember(object: JsonObject, key: string, draft?: Draft): JsonObject {
  if (!Object.hasOwn(object, key)) return object;
  if (draft?.owns(object)) {
    spendSteps(1);
    delete (object as Record<string, Json>)[key];
    return object;
  }
  const { [key]: _removed, ...rest } = object;
  spendSteps(countMembers(rest));
  draft?.own(rest);
  return rest;
}

export function insertItem(list: JsonArray, index: number, value: Json, draft?: Draft): JsonArray {
  const target = editableItems(list, draft);
  // Items after it are moved.
  spendSteps((list.length - index) >> 4);
  if (index === list.length) target.push(value);
  else target.splice(index, 0, value);
  return target;
}

export function removeItem(list: JsonArray, index: number, draft?: Draft): JsonArray {
  if (index < 0 || index >= list.length) return list;
  const target = editableItems(list, draft);
  spendSteps((list.length - index) >> 4);
  target.splice(index, 1);
  return target;
}

/** The object itself if the draft owns it, else a copy. */
export function editableMembers(object: JsonObject, draft: Draft | undefined): Record<string, Json> {
  spendSteps(1);
  if (draft?.owns(object)) return object;
  const copy = copyMembers(object);
  draft?.own(copy);
  return copy;
}

/** The list itself if the draft owns it, else a copy. */
export function editableItems(list: JsonArray, draft: Draft | undefined): Json[] {
  spendSteps(1);
  if (draft?.owns(list)) return list as Json[];
  spendSteps(list.length >> 4);
  const copy = [...list];
  draft?.own(copy);
  return copy;
}

/** Replaces items by what `change` returns; copies the list once. */
export function mapItems(list: JsonArray, change: (item: Json, index: number) => Json): JsonArray {
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as Json;
    const changed = change(item, index);
    if (changed === item) continue;
    if (copy === undefined) {
      spendSteps(1 + (list.length >> 4));
      copy = [...list];
    }
    copy[index] = changed;
  }
  return copy ?? list;
}

export function replaceItem(list: JsonArray, index: number, value: Json, draft?: Draft): JsonArray {
  if (list[index] === value) return list;
  const target = editableItems(list, draft);
  target[index] = value;
  return target;
}

/**
 * Sets the value at `path`. Absent or null steps are created: as a list for a number that follows, else as
 * an object; an index equal to the length appends. Throws EditError for a step into a scalar or past the end.
 */
export function setAt(root: Json, path: Path, value: Json): Json {
  const containers: Container[] = [];
  let current: Json | undefined = root;
  for (const token of path) {
    const container = containerFor(current, token, path);
    containers.push(container);
    current = isArray(container) ? container[Number(token)] : member(container, String(token));
  }
  let result = value;
  for (let depth = containers.length - 1; depth >= 0; depth--) {
    result = put(containers[depth] as Container, path[depth] as PathToken, result);
  }
  return result;
}

type Container = JsonArray | JsonObject;

export class EditError extends Error {
  override readonly name = 'EditError';
  readonly path: Path;
  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

function containerFor(value: Json | undefined, token: PathToken, path: Path): Container {
  if (isObject(value)) return value;
  const container = value ?? (typeof token === 'number' ? [] : {});
  if (isObject(container)) return container;
  if (!isArray(container))
    throw new EditError(path, `cannot step into a ${typeof container} with '${token}'`);
  const index = Number(token);
  if (Number.isInteger(index) && index >= 0 && index <= container.length) return container;
  throw new EditError(path, `'${token}' is not an index of a list of ${container.length}`);
}

function put(container: Container, token: PathToken, value: Json): Json {
  if (!isArray(container)) return setMember(container as JsonObject, String(token), value);
  const index = Number(token);
  return index === container.length ? [...container, value] : replaceItem(container, index, value);
}
