import { parseIndex } from '../../json/list-index.ts';
import { read, readObject, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { comparedPart } from '../../patch/strategic/condition-parts.ts';
import { conditionGroups } from '../../policy/check/condition-places.ts';
import { readOperations } from '../../policy/check/json-patch-operations.ts';
import { filterBlocks } from '../../policy/check/match-blocks.ts';
import type { FieldTree } from './field-tree.ts';
import { addExpressionFields, addTextFields, type Names } from './jmespath-fields.ts';

/** Adds the fields that a rule of a ClusterPolicy matches, reads and writes. */
export function addRuleFields(tree: FieldTree, rule: JsonObject): void {
  for (const field of ['match', 'exclude']) addFilter(tree, readObject(rule, field));
  const names = addContext(tree, rule, new Map());
  addConditions(tree, rule, names);
  addMutation(tree, readObject(rule, 'mutate') ?? {}, names);
}

function addFilter(tree: FieldTree, filter: JsonObject | undefined): void {
  if (filter === undefined) return;
  for (const { resources } of filterBlocks(filter, []).blocks) {
    const names = [readText(resources, 'name') ?? '', ...readTexts(resources, 'names')];
    for (const name of names) if (name !== '') tree.addValue(['metadata', 'name'], name);
    for (const name of readTexts(resources, 'namespaces')) tree.addValue(['metadata', 'namespace'], name);
    for (const [key, value] of Object.entries(readTextMap(resources, 'annotations')))
      tree.addValue(['metadata', 'annotations', key], value);
    addSelector(tree, readObject(resources, 'selector') ?? {});
  }
}

function addSelector(tree: FieldTree, selector: JsonObject): void {
  for (const [key, value] of Object.entries(readTextMap(selector, 'matchLabels')))
    tree.addValue(['metadata', 'labels', key], value);
  for (const expression of readObjects(selector, 'matchExpressions')) {
    const path: Path = ['metadata', 'labels', readText(expression, 'key') ?? ''];
    tree.add(path);
    for (const value of readTexts(expression, 'values')) tree.addValue(path, value);
  }
}

/** A name of the context stands for the fields that its entry reads. */
function addContext(tree: FieldTree, holder: JsonObject, outer: Names): Names {
  const names = new Map(outer);
  for (const entry of readObjects(holder, 'context')) {
    const variable = readObject(entry, 'variable') ?? {};
    const paths = [
      ...addExpressionFields(tree, readText(variable, 'jmesPath') ?? '', names),
      ...addStrings(tree, read(variable, 'value') ?? null, names),
      ...addStrings(tree, read(variable, 'default') ?? null, names),
    ];
    for (const path of paths) addConstants(tree, path, variable);
    for (const field of ['configMap', 'apiCall', 'imageRegistry', 'globalReference'])
      addStrings(tree, readObject(entry, field) ?? null, names);
    names.set(readText(entry, 'name') ?? '', paths);
  }
  return names;
}

function addConstants(tree: FieldTree, path: Path, variable: JsonObject): void {
  const value = read(variable, 'default');
  if (value !== undefined && !holdsVariable(value)) tree.addValue(path, value);
}

function addConditions(tree: FieldTree, holder: JsonObject, names: Names): void {
  for (const { conditions } of conditionGroups({ path: [], holder })) {
    for (const condition of conditions) {
      if (!isObject(condition)) continue;
      const [key, value] = [read(condition, 'key') ?? null, read(condition, 'value') ?? null];
      const sides = [
        { paths: addStrings(tree, key, names), other: value },
        { paths: addStrings(tree, value, names), other: key },
      ];
      for (const { paths, other } of sides) for (const path of paths) addCompared(tree, path, other);
    }
  }
}

function addCompared(tree: FieldTree, path: Path, value: Json): void {
  if (holdsVariable(value)) return;
  for (const item of isArray(value) ? value : [value]) tree.addValue(path, item);
  if (isArray(value)) tree.addValue(path, value);
}

function addMutation(tree: FieldTree, mutate: JsonObject, names: Names): void {
  for (const target of readObjects(mutate, 'targets')) {
    addConditions(tree, target, addContext(tree, target, names));
  }
  addOverlay(tree, [], read(mutate, 'patchStrategicMerge') ?? null, names);
  addPatch(tree, read(mutate, 'patchesJson6902'), names);
  for (const loop of readObjects(mutate, 'foreach')) addLoop(tree, loop, names, 0);
}

function addLoop(tree: FieldTree, loop: JsonObject, outer: Names, level: number): void {
  const items = addExpressionFields(tree, readText(loop, 'list') ?? '', outer).map((path) => [...path, 0]);
  for (const path of items) tree.add(path);
  const inner = new Map(outer);
  for (const name of ['element', `element${level}`, readText(loop, 'as') ?? 'element'])
    inner.set(name, items);
  const names = addContext(tree, loop, inner);
  addConditions(tree, loop, names);
  addMutation(tree, { ...loop, foreach: [] }, names);
  for (const nested of readObjects(loop, 'foreach')) addLoop(tree, nested, names, level + 1);
}

function addOverlay(tree: FieldTree, path: Path, overlay: Json, names: Names): void {
  if (isArray(overlay)) {
    tree.add([...path, 0]);
    for (const item of overlay) addOverlay(tree, [...path, 0], item, names);
  } else if (isObject(overlay)) {
    for (const [text, value] of Object.entries(overlay)) {
      addTextFields(tree, text, names);
      const anchor = parseAnchor(text);
      const at = [...path, anchor?.key ?? text];
      tree.add(at);
      const isCondition = anchor?.type === 'condition' || anchor?.type === 'global';
      addOverlay(tree, at, isCondition ? comparedPart(value) : value, names);
      if (isCondition) addOverlay(tree, at, value, names);
    }
  } else if (typeof overlay === 'string' && holdsVariable(overlay)) {
    tree.add(path);
    addTextFields(tree, overlay, names);
  } else tree.addValue(path, overlay);
}

function addPatch(tree: FieldTree, source: Json | undefined, names: Names): void {
  if (source === undefined) return;
  addStrings(tree, source, names);
  for (const { path, tokens, value } of readOperations(source)) {
    const parts = tokens ?? path.split('/').slice(1);
    const at = parts.map((token) => (token === '-' || isIndex(token) ? 0 : token));
    if (value === undefined) tree.add(at);
    else tree.addValue(at, value);
  }
}

function isIndex(token: string): boolean {
  return parseIndex(token, false) !== undefined || holdsVariable(token);
}

function addStrings(tree: FieldTree, value: Json, names: Names): readonly Path[] {
  if (typeof value === 'string') return addTextFields(tree, value, names);
  if (isArray(value)) return value.flatMap((item) => addStrings(tree, item, names));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...addTextFields(tree, key, names),
    ...addStrings(tree, inner, names),
  ]);
}

function holdsVariable(value: Json): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (isArray(value)) return value.some(holdsVariable);
  return isObject(value) && Object.values(value).some(holdsVariable);
}
