import { findVariables, hasVariable } from '../../expression/template/tokens.ts';
import { parseIndex } from '../../json/list-index.ts';
import { PointerSyntaxError, parsePointer } from '../../json/pointer.ts';
import { isObject, type Json, type Path } from '../../json/value.ts';
import { entryOf, type PatchNode } from '../../patch/json-patch/node.ts';
import { PatchTextError, parsePatchText } from '../../patch/json-patch/text.ts';
import { nodeOfDocument } from '../../patch/json-patch/v1alpha1.ts';
import { constantNode } from '../../policy/check/json-patch-operations.ts';
import type { LoopNames } from './overlay.ts';
import {
  anyStep,
  fieldSchema,
  formatSteps,
  itemSchema,
  keyStep,
  type Write,
  type WriteSchema,
  type WriteStep,
  writeOf,
} from './write-step.ts';

/** The writes of a JSON patch (a string, or a list in v1alpha1). */
export function operationWrites(
  patch: Json,
  source: Path,
  schema: WriteSchema,
  loops: readonly LoopNames[],
): readonly Write[] {
  const root = readPatch(patch);
  if (root?.type === 'template') return [writeOf([], 'set', source)];
  if (root?.type !== 'list') return [];
  const context: PatchContext = {
    schema,
    indexes: new Set(loops.flatMap((loop, depth) => indexNames(loop, depth))),
    inserted: new Map(),
    isAlpha: typeof patch !== 'string',
    shifted: shiftedLists(root.items),
  };
  return root.items.flatMap((item, index) => readOperation(item, [...source, index], context));
}

interface PatchContext {
  readonly schema: WriteSchema;
  /** Variables that yield an index, and so one step. */
  readonly indexes: ReadonlySet<string>;
  /** Items that this patch inserted, by list and index: later operations may change them. */
  readonly inserted: Map<string, WriteStep>;
  readonly isAlpha: boolean;
  /** Lists in which indexes move while the patch runs. */
  readonly shifted: ReadonlySet<string>;
}

function indexNames({ as }: LoopNames, depth: number): readonly string[] {
  return ['elementIndex', `elementIndex${depth}`, ...(as === undefined ? [] : [`${as}Index`])];
}

function readPatch(patch: Json): PatchNode | undefined {
  if (typeof patch !== 'string') return nodeOfDocument(patch);
  try {
    return parsePatchText(patch);
  } catch (error) {
    if (error instanceof PatchTextError) return undefined;
    throw error;
  }
}

function textOf(node: PatchNode | undefined): string | undefined {
  if (node?.type === 'template') return node.text;
  return node?.type === 'constant' && typeof node.value === 'string' ? node.value : undefined;
}

function readOperation(node: PatchNode, source: Path, context: PatchContext): readonly Write[] {
  const op = entryOf(node, 'op');
  const path = textOf(entryOf(node, 'path'));
  // A variable operation may be any operation.
  if (node.type === 'template' || op?.type === 'template' || path === undefined)
    return [writeOf([], 'set', source)];
  const value = entryOf(node, 'value');
  switch (op?.type === 'constant' ? op.value : undefined) {
    case 'add':
      return addWrites(path, value, source, context);
    case 'replace':
      return [writeOf(stepsOf(path, context), 'set', source, value && constantNode(value))];
    case 'remove':
      return [writeOf(stepsOf(path, context), 'remove', source)];
    case 'copy':
      return addWrites(path, undefined, source, context);
    case 'move': {
      const from = writeOf(stepsOf(textOf(entryOf(node, 'from')) ?? '', context), 'remove', source);
      return [from, ...addWrites(path, undefined, source, context)];
    }
    default:
      return [];
  }
}

function addWrites(
  path: string,
  value: PatchNode | undefined,
  source: Path,
  context: PatchContext,
): readonly Write[] {
  const tokens = splitPath(path);
  if (context.isAlpha && tokens.length > 1 && tokens.at(-1) === '') tokens.pop();
  const last = tokens.at(-1) ?? '';
  const steps = stepsOfTokens(tokens, context);
  const constant = value && constantNode(value);
  const isInsertion = steps.length === tokens.length && isListPlace(tokens, context);
  if (!isInsertion) return [writeOf(steps, 'set', source, constant)];
  const list = steps.slice(0, -1);
  const isMany = context.isAlpha && path.endsWith('/') && value?.type === 'list';
  const items = isMany ? value.items : [value];
  return items.map((item) => {
    const step = itemStep(item, listSchema(list, context.schema));
    if (last !== '-') context.inserted.set(`${formatSteps(list)} ${last}`, step);
    return writeOf([...list, step], 'item', source, item && constantNode(item));
  });
}

/** `-` is always one; a number is one unless the schema of the kind shows a map there. */
function isListPlace(tokens: readonly string[], { schema }: PatchContext): boolean {
  const last = tokens.at(-1) ?? '';
  if (last === '-') return true;
  if (parseIndex(last, true) === undefined) return false;
  const parent = tokens.at(-2) ?? '';
  return typeof schema === 'string' || !textMaps.has(parent);
}

/** Kubernetes fields that are maps of strings: a number in a path below them is a key. */
const textMaps = new Set([
  'data',
  'binaryData',
  'stringData',
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
]);

/** Identifies an inserted item by its merge keys, its name, or its scalars. */
function itemStep(value: PatchNode | undefined, schema: WriteSchema): WriteStep {
  if (value === undefined) return anyStep;
  if (value.type === 'constant') return { type: 'item', where: value.value };
  if (value.type !== 'map') return anyStep;
  const scalars = value.entries.flatMap(({ key, value: inner }) => {
    const name = constantNode(key);
    return typeof name === 'string' && inner.type === 'constant' && inner.value !== null
      ? [[name, inner.value] as const]
      : [];
  });
  const keys = typeof schema === 'string' ? undefined : schema.mergeKeys;
  const named = scalars.filter(([name]) => (keys === undefined ? name === 'name' : keys.includes(name)));
  const chosen = named.length > 0 ? named : scalars;
  const where = Object.fromEntries(chosen);
  return chosen.length === 0 ? anyStep : { type: 'item', where: isObject(where) ? where : {} };
}

function listSchema(list: readonly WriteStep[], schema: WriteSchema): WriteSchema {
  return list.reduce<WriteSchema>(
    (inner, step) => (isListSchema(inner) ? itemSchema(inner) : fieldSchema(inner, step)),
    schema,
  );
}

function isListSchema(schema: WriteSchema): boolean {
  return typeof schema !== 'string' && (schema.mergeKeys !== undefined || schema.items !== undefined);
}

function stepsOf(path: string, context: PatchContext): readonly WriteStep[] {
  return stepsOfTokens(splitPath(path), context);
}

/** A variable that is not an index may contain a slash, so the rest of the path is unknown. */
function stepsOfTokens(tokens: readonly string[], context: PatchContext): readonly WriteStep[] {
  const steps: WriteStep[] = [];
  for (const token of tokens) {
    if (hasVariable(token)) {
      steps.push(anyStep);
      if (!isIndex(token, context.indexes)) return steps;
      continue;
    }
    steps.push(plainStep(token, formatSteps(steps), context));
  }
  return steps;
}

function plainStep(token: string, list: string, { inserted, shifted }: PatchContext): WriteStep {
  const known = inserted.get(`${list} ${token}`);
  if (known !== undefined) return known;
  const index = parseIndex(token, true);
  if (token === '-' || (index !== undefined && (index < 0 || shifted.has(list)))) return anyStep;
  return keyStep(index === undefined ? token : String(index));
}

function isIndex(token: string, indexes: ReadonlySet<string>): boolean {
  const [variable] = findVariables(token);
  return (
    variable !== undefined &&
    variable.end - variable.start === token.length &&
    indexes.has(variable.expression.trim())
  );
}

/** Splits at slashes outside variables, and unescapes the parts that are not variables. */
function splitPath(path: string): string[] {
  const variables = findVariables(path);
  if (variables.length === 0) return readPointer(path);
  const parts: string[] = [''];
  for (let at = 0; at < path.length; at++) {
    const character = path.charAt(at);
    const isInside = variables.some(({ start, end }) => start <= at && at < end);
    if (character === '/' && !isInside) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.slice(1).map((part) => (hasVariable(part) ? part : (readPointer(`/${part}`)[0] ?? '')));
}

function readPointer(path: string): string[] {
  try {
    return parsePointer(path, { lenient: true });
  } catch (error) {
    if (error instanceof PointerSyntaxError) return [];
    throw error;
  }
}

/** Lists into which, or out of which, operations move items at an index. */
function shiftedLists(operations: readonly PatchNode[]): ReadonlySet<string> {
  const lists = operations.flatMap((operation) => {
    const op = entryOf(operation, 'op');
    const isShift = op?.type === 'constant' && ['add', 'remove', 'move', 'copy'].includes(String(op.value));
    if (!isShift) return [];
    return ['path', 'from'].flatMap((field) => {
      const tokens = splitPath(textOf(entryOf(operation, field)) ?? '');
      const isAtIndex =
        parseIndex(tokens.at(-1) ?? '', true) !== undefined && !textMaps.has(tokens.at(-2) ?? '');
      return isAtIndex ? [formatSteps(tokens.slice(0, -1).map(keyStep))] : [];
    });
  });
  return new Set(lists);
}
