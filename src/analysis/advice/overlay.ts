import { hasVariable } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
} from '../../json/value.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { mergeSchemaFor, type SchemaNode } from '../../patch/merge-schema.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { matchKinds } from '../../policy/check/match-blocks.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import type { Reporter } from '../../problem.ts';
import { reportDifference } from './difference.ts';

/** The merge schema of the kinds that a rule patches; `custom` when none is built in. */
export type RuleSchema = SchemaNode | 'custom' | 'unknown';

interface OverlayAdvice {
  readonly schema: RuleSchema;
  readonly inLoop: boolean;
  readonly reporter: Reporter;
}

export function schemaOfRule(rule: JsonObject): RuleSchema {
  const targets = readObjects(readObject(rule, 'mutate') ?? {}, 'targets');
  const kinds =
    targets.length > 0
      ? targets.map((target) => readText(target, 'kind') ?? '*')
      : matchKinds(rule).map((text) => parseKind(text)?.kind ?? '*');
  if (kinds.length === 0 || kinds.some((kind) => hasWildcard(kind) || hasVariable(kind))) return 'unknown';
  const schemas = kinds.map(schemaOfKind);
  if (schemas.every((schema) => schema === undefined)) return 'custom';
  return schemas.find((schema) => schema !== undefined) ?? 'unknown';
}

function schemaOfKind(kind: string): SchemaNode | undefined {
  const name = Object.keys(mergeKinds).find((key) => key.endsWith(`/${kind}`));
  return name === undefined ? undefined : mergeSchemaFor(name.slice(0, -kind.length - 1), kind);
}

/** Reports where Kyverno produces another result for a strategic merge patch. */
export function adviseOnOverlay(overlay: Json, path: Path, advice: OverlayAdvice): void {
  if (isObject(overlay)) walkMap(overlay, path, advice, false);
}

function walk(value: Json, path: Path, advice: OverlayAdvice, inItem: boolean): void {
  if (isArray(value)) walkList(value, path, advice);
  else if (isObject(value)) walkMap(value, path, advice, inItem);
}

function walkMap(map: JsonObject, path: Path, advice: OverlayAdvice, inItem: boolean): void {
  const { reporter } = advice;
  for (const [key, value] of Object.entries(map)) {
    const anchor = parseAnchor(key);
    const at = [...path, key];
    if (key.startsWith('$')) {
      adviseOnDirective(key, value, at, inItem, reporter);
      continue;
    }
    if (anchor?.type === 'condition' || anchor?.type === 'global') {
      if (!holdsPlainValues(value)) continue;
      const message = `Kyverno writes the plain values below ${anchor.text} into the object; Kymera only compares them`;
      reportDifference(reporter, at, 'condition', message, 'Put the keys below it in parentheses too.');
      continue;
    }
    if (anchor?.type === 'add' && inItem && !advice.inLoop) {
      const message = `Kyverno evaluates ${anchor.text} for the first list item and uses the result for all items`;
      reportDifference(reporter, at, 'leak', message, 'A foreach gives each item its own patch.');
    }
    if (isObject(value) && Object.keys(value).length === 0) {
      const message = `Kyverno omits the empty map ${anchor?.key ?? key}`;
      reportDifference(
        reporter,
        at,
        'emptyMap',
        message,
        'Use patchesJson6902, or set a default value in it.',
      );
    }
    walk(value, at, { ...advice, schema: memberSchema(advice.schema, anchor?.key ?? key) }, inItem);
  }
}

function adviseOnDirective(key: string, value: Json, path: Path, inItem: boolean, reporter: Reporter): void {
  if (key === '$patch') {
    if (value !== 'replace' || !inItem) return;
    reportDifference(
      reporter,
      path,
      'directives',
      'Kyverno ignores `$patch: replace` in a list item, or writes it',
    );
  } else if (/^\$(?:retainKeys$|setElementOrder\/|deleteFromPrimitiveList\/)/.test(key)) {
    reportDifference(reporter, path, 'smaller', `Kyverno writes ${key} into the object`);
  }
}

function memberSchema(schema: RuleSchema, key: string): RuleSchema {
  return typeof schema === 'string' ? schema : (schema.fields.get(key) ?? plain);
}

/** Fields that are not in the table contain no lists merged by key. */
const plain: SchemaNode = { fields: new Map() };

function walkList(list: JsonArray, path: Path, advice: OverlayAdvice): void {
  const anchored = list.filter(holdsAnchor);
  if (anchored.length > 1) {
    const message = 'Kyverno confuses several anchored items in one list, and may crash';
    reportDifference(advice.reporter, path, 'anchoredItems', message, 'Write a separate rule for each item.');
  }
  const { schema } = advice;
  const inner = { ...advice, schema: typeof schema === 'string' ? schema : (schema.items ?? plain) };
  list.forEach((item, index) => {
    const at = [...path, index];
    if (!isObject(item)) return;
    if (holdsAnchor(item)) adviseOnAnchoredItem(item, at, schema, advice.reporter);
    else adviseOnPlainItem(item, at, schema, advice.reporter);
    if (isContainerList(path, schema)) adviseOnImageless(item, at, advice.reporter);
    walkMap(item, at, inner, true);
  });
}

function adviseOnAnchoredItem(item: JsonObject, path: Path, schema: RuleSchema, reporter: Reporter): void {
  if (schema === 'custom') {
    const message = 'Kyverno replaces this list of a custom resource with the items that match';
    reportDifference(reporter, path, 'custom', message, 'Use a foreach with patchesJson6902.');
    return;
  }
  const keys = typeof schema === 'string' ? undefined : (schema.mergeKeys ?? []);
  const fields = Object.keys(item).map((key) => parseAnchor(key)?.key ?? key);
  if (keys !== undefined && !keys.includes('name') && !fields.includes('name')) {
    const message = 'Kyverno applies anchored items only to items with a name, so it changes nothing here';
    reportDifference(reporter, path, 'nameless', message, 'Use a foreach with patchesJson6902.');
    return;
  }
  const hasPlainFields = Object.keys(item).some((key) => parseAnchor(key) === undefined);
  if (hasPlainFields && Object.keys(item).some((key) => parseAnchor(key)?.type === 'global')) {
    const message =
      'Kyverno does not patch an item with <( ): the anchor only decides whether the rule applies';
    reportDifference(reporter, path, 'smaller', message, 'Use ( ) to patch the items that match.');
  }
  const isAnchoredHere = Object.keys(item).some((key) => isCondition(key));
  if (!isAnchoredHere && keys !== undefined && !keys.some((key) => Object.hasOwn(item, key))) {
    const message = 'Kyverno applies the patch of one list item to the other items too';
    reportDifference(reporter, path, 'furtherDown', message, 'Use a foreach over the outer list.');
  }
}

function adviseOnPlainItem(item: JsonObject, path: Path, schema: RuleSchema, reporter: Reporter): void {
  const [key] = typeof schema === 'string' ? [] : (schema.mergeKeys ?? []);
  const fields = Object.keys(item);
  if (key === undefined || fields.some((field) => field === key || /^\$|\{\{|\(/.test(field))) return;
  const message = `the item lacks the merge key ${key}: the rule fails, and Kyverno empties the list`;
  reportDifference(reporter, path, 'keyless', message, `Add ${key}, or (${key}): "*" to mean every item.`);
}

function isContainerList(path: Path, schema: RuleSchema): boolean {
  const isKeyed = schema === 'unknown' || (typeof schema === 'object' && schema.mergeKeys?.[0] === 'name');
  return isKeyed && /^(init|ephemeral)?containers$/i.test(String(path.at(-1)));
}

/** An item for a container that may not exist, without an image to create it. */
function adviseOnImageless(item: JsonObject, path: Path, reporter: Reporter): void {
  const name = item['name'];
  const isLiteral = typeof name === 'string' && !hasVariable(name);
  const fields = Object.keys(item).map((key) => parseAnchor(key)?.key ?? key);
  if (!isLiteral || fields.includes('image') || fields.includes('$patch') || holdsAnchor(item)) return;
  const message = `if no container is named ${name}, nothing is added, because the item has no image; Kyverno adds a container without an image or patches another one`;
  reportDifference(reporter, path, 'imageless', message, `Add an image, or write (name): ${name}.`);
}

function isCondition(key: string): boolean {
  const type = parseAnchor(key)?.type;
  return type === 'condition' || type === 'global';
}

function holdsAnchor(value: Json): boolean {
  if (isArray(value)) return value.some(holdsAnchor);
  return (
    isObject(value) && Object.entries(value).some(([key, child]) => isCondition(key) || holdsAnchor(child))
  );
}

/** Scalars below a condition that are neither conditions nor below `+()`. */
function holdsPlainValues(value: Json): boolean {
  if (isArray(value)) return value.some((item) => !isObject(item) || holdsPlainValues(item));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, child]) => {
    if (parseAnchor(key)?.type === 'add') return false;
    if (typeof child === 'object' && child !== null) return holdsPlainValues(child);
    return !isCondition(key);
  });
}
