import type { Draft } from '../draft.ts';
import { insertItem, removeItem, removeMember, replaceItem, setMember } from '../edit.ts';
import { equal } from '../equal.ts';
import { insertionIndex, itemIndex, parseIndex, StepError } from '../list-index.ts';
import { formatPointer } from '../pointer.ts';
import { isArray, type Json, type JsonArray, type JsonObject, member, typeOf } from '../value.ts';

/** How operations are applied. */
export interface EditMode {
  /** With the extensions of Kyverno: see ApplyOptions. */
  readonly lenient: boolean;
  /** Copies that earlier operations made; these are changed in place. Must be released before a `copy`. */
  readonly draft?: Draft | undefined;
}

type Container = JsonArray | JsonObject;
type Tokens = readonly string[];

/** The value at the path; throws StepError when there is none. */
export function readAt(document: Json, path: Tokens, mode: EditMode): Json {
  if (path.length === 0) return document;
  const parent = parentOf(walk(document, path, mode), path, mode);
  return requireChild(parent, path, mode);
}

export function replaceAt(document: Json, path: Tokens, value: Json, mode: EditMode): Json {
  const old = readAt(document, path, mode);
  if (equal(old, value)) return document;
  const containers = walk(document, path, mode);
  return rebuild(containers, containers.length, path, value, mode);
}

/** With `ignoreMissing`, a missing value is not an error. */
export function removeAt(document: Json, path: Tokens, mode: EditMode, ignoreMissing: boolean): Json {
  if (path.length === 0) {
    if (ignoreMissing) return document;
    throw new StepError('the whole document cannot be removed');
  }
  const containers = walk(document, path, mode);
  if (ignoreMissing && containers.length < path.length) return document;
  const parent = parentOf(containers, path, mode);
  if (ignoreMissing && childOf(parent, lastOf(path), mode) === undefined) return document;
  requireChild(parent, path, mode);
  const changed = withoutChild(parent, lastOf(path), mode);
  return rebuild(containers, containers.length - 1, path, changed, mode);
}

/** With `createParents`, absent and null steps become lists (before an index or `-`) or objects. */
export function addAt(
  document: Json,
  path: Tokens,
  value: Json,
  mode: EditMode,
  createParents: boolean,
): Json {
  if (path.length === 0) return equal(document, value) ? document : value;
  const containers = walk(document, path, mode);
  const depth = containers.length - 1;
  const reached = containers[depth];
  if (reached === undefined) throw notContainer(document, path, 0);
  if (containers.length === path.length) {
    return rebuild(containers, depth, path, addChild(reached, lastOf(path), value, mode), mode);
  }
  if (!createParents) parentOf(containers, path, mode);
  const created = createChild(reached, path, depth, scaffold(path, depth + 1, value), mode);
  return rebuild(containers, depth, path, created, mode);
}

/** The existing containers along the path; token n leads into the container at index n. */
function walk(document: Json, path: Tokens, mode: EditMode): Container[] {
  const containers: Container[] = [];
  let current: Json | undefined = document;
  for (let depth = 0; depth < path.length; depth++) {
    if (typeof current !== 'object' || current === null) break;
    containers.push(current);
    // The last step leads to a value, which need not exist.
    if (depth === path.length - 1) break;
    const token = path[depth] as string;
    if (isArray(current) && parseIndex(token, mode.lenient) === undefined) break;
    current = childOf(current, token, mode);
  }
  return containers;
}

/** The container of the last step; throws the reason when the path ends before it. */
function parentOf(containers: readonly Container[], path: Tokens, mode: EditMode): Container {
  const reached = containers.at(-1);
  if (reached === undefined) throw new StepError('the document is neither an object nor a list');
  if (containers.length === path.length) return reached;
  const depth = containers.length - 1;
  const child = childOf(reached, path[depth] as string, mode);
  throw child === undefined ? absent(path, depth) : notContainer(child, path, depth + 1);
}

function childOf(container: Container, token: string, mode: EditMode): Json | undefined {
  if (!isArray(container)) return member(container as JsonObject, token);
  const index = itemIndex(container.length, token, mode.lenient);
  return index === undefined ? undefined : container[index];
}

function requireChild(parent: Container, path: Tokens, mode: EditMode): Json {
  const child = childOf(parent, lastOf(path), mode);
  if (child === undefined) throw absent(path, path.length - 1);
  return child;
}

function withoutChild(container: Container, token: string, mode: EditMode): Json {
  if (!isArray(container)) return removeMember(container as JsonObject, token, mode.draft);
  return removeItem(container, itemIndex(container.length, token, mode.lenient) ?? -1, mode.draft);
}

function addChild(container: Container, token: string, value: Json, mode: EditMode): Container {
  if (isArray(container)) {
    return insertItem(container, insertionIndex(container.length, token, mode.lenient), value, mode.draft);
  }
  const object = container as JsonObject;
  const old = member(object, token);
  return old !== undefined && equal(old, value) ? object : setMember(object, token, value, mode.draft);
}

/** Creates a container where the path has no value or null. */
function createChild(container: Container, path: Tokens, depth: number, child: Json, mode: EditMode): Json {
  const token = path[depth] as string;
  if (isArray(container) && token === '-') throw absent(path, depth);
  const old = childOf(container, token, mode);
  if (old === undefined) return addChild(container, token, child, mode);
  if (old !== null) throw notContainer(old, path, depth + 1);
  return withChild(container, token, child, mode);
}

/** Wraps the value in new containers for the path from `depth` on. A new list has no gaps: its only index is 0, -1 or `-`. */
function scaffold(path: Tokens, depth: number, value: Json): Json {
  let result = value;
  for (let place = path.length - 1; place >= depth; place--) {
    const token = path[place] as string;
    const isLast = place === path.length - 1;
    if (token === '-' && !isLast) throw absent(path, place);
    const isIndex = token === '-' || parseIndex(token, true) !== undefined;
    result = isIndex ? addChild([], token, result, { lenient: true }) : { [token]: result };
  }
  return result;
}

/** Puts the value below the first `count` containers and replaces these, up to the first one that stays the same. */
function rebuild(
  containers: readonly Container[],
  count: number,
  path: Tokens,
  value: Json,
  mode: EditMode,
): Json {
  let result = value;
  for (let depth = count - 1; depth >= 0; depth--) {
    const container = containers[depth] as Container;
    result = withChild(container, path[depth] as string, result, mode);
    // Also because a draft owns it: then it owns those above it.
    if (result === container) return containers[0] as Container;
  }
  return result;
}

/** Replaces an existing child. */
function withChild(container: Container, token: string, child: Json, mode: EditMode): Container {
  if (!isArray(container)) return setMember(container as JsonObject, token, child, mode.draft);
  return replaceItem(container, itemIndex(container.length, token, mode.lenient) ?? -1, child, mode.draft);
}

function lastOf(path: Tokens): string {
  return path[path.length - 1] as string;
}

function absent(path: Tokens, depth: number): StepError {
  return new StepError(`${formatPointer(path.slice(0, depth + 1))} does not exist`);
}

function notContainer(value: Json, path: Tokens, depth: number): StepError {
  const place = depth === 0 ? 'the document' : formatPointer(path.slice(0, depth));
  return new StepError(`${place} is ${articleFor[typeOf(value)]}, not an object or a list`);
}

const articleFor = {
  null: 'null',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  array: 'a list',
  object: 'an object',
} as const;
