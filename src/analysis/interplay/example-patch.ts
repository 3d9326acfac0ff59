import { hasVariable } from '../../expression/template/tokens.ts';
import { parseIndex } from '../../json/list-index.ts';
import { read, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { comparedPart } from '../../patch/strategic/condition-parts.ts';
import { readOperations } from '../../policy/check/json-patch-operations.ts';
import { exampleValue, holdsAt, objectPath, placeAt } from './example-value.ts';

/** Adds the values that the patches of a mutate block or loop need: for anchors, lists, fields to replace. */
export function placePatch(object: JsonObject, owner: JsonObject): JsonObject {
  let result = object;
  for (const field of ['patchStrategicMerge', 'overlay']) {
    const overlay = read(owner, field);
    if (isObject(overlay)) result = placeAnchors(result, overlay, []);
  }
  for (const field of ['patchesJson6902', 'patches']) {
    const operations = read(owner, field);
    if (operations !== undefined) result = placeOperations(result, operations);
  }
  for (const loop of readObjects(owner, 'foreach')) {
    result = placePatch(placeList(result, readText(loop, 'list') ?? ''), loop);
  }
  return result;
}

function placeAnchors(object: JsonObject, overlay: Json, path: Path): JsonObject {
  if (isArray(overlay)) {
    return overlay.reduce<JsonObject>(
      (result, item) => (holdsAnchor(item) ? placeAnchors(result, item, [...path, 0]) : result),
      object,
    );
  }
  if (!isObject(overlay)) return object;
  return Object.entries(overlay).reduce<JsonObject>((result, [text, value]) => {
    const anchor = parseAnchor(text);
    const at = [...path, anchor?.key ?? text];
    if (hasVariable(text)) return result;
    if (anchor?.type !== 'condition' && anchor?.type !== 'global') return placeAnchors(result, value, at);
    return placeCondition(result, comparedPart(value), at);
  }, object);
}

function placeCondition(object: JsonObject, pattern: Json, path: Path): JsonObject {
  if (isObject(pattern) || isArray(pattern)) {
    const isEmptyMap = isObject(pattern) && Object.keys(pattern).length === 0;
    if (isEmptyMap) return holdsAt(object, path) ? object : placeAt(object, path, {});
    const entries = isArray(pattern)
      ? pattern.map((item, index) => [index, item] as const)
      : Object.entries(pattern);
    return entries.reduce<JsonObject>((result, [key, inner]) => {
      const token = typeof key === 'string' ? (parseAnchor(key)?.key ?? key) : key;
      return placeCondition(result, inner, [...path, token]);
    }, object);
  }
  return pattern === '*' && holdsAt(object, path) ? object : placeAt(object, path, exampleValue(pattern));
}

function holdsAnchor(value: Json): boolean {
  if (isArray(value)) return value.some(holdsAnchor);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => parseAnchor(key) !== undefined || holdsAnchor(inner));
}

/** `replace`, `test` and `remove` need an existing value. */
function placeOperations(object: JsonObject, patch: Json): JsonObject {
  return readOperations(patch).reduce((result, { op, tokens, value }) => {
    if (tokens === undefined || tokens.some(hasVariable) || op === 'add') return result;
    const path = tokens.map((token) => parseIndex(token, false) ?? token);
    if (op === 'test' && value !== undefined) return placeAt(result, path, value);
    return holdsAt(result, path) ? result : placeAt(result, path, 'example');
  }, object);
}

function placeList(object: JsonObject, list: string): JsonObject {
  const path = objectPath(`{{ ${list.replace(/\[\]$/, '')} }}`);
  return path === undefined || holdsAt(object, path)
    ? object
    : placeAt(object, path, [{ name: 'app', image: 'registry.example/app:1.0' }]);
}
