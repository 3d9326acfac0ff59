import { findVariables } from '../../expression/template/tokens.ts';
import { parsePointer } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import { entryOf, type PatchNode } from '../../patch/json-patch/node.ts';
import { parsePatchText } from '../../patch/json-patch/text.ts';
import { asDeclared, schemaAt } from '../../patch/structured/declared.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import { listText, literal, mapText, text } from '../expression/cel-text.ts';
import { translateTemplate } from '../expression/template.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { add, createParent, remove, type Step, when } from './operations.ts';
import { fieldOf, indexOf, isMissing, type Place, pointerText, rootPlace, selectedBy } from './place.ts';
import { isText, keyText } from './value.ts';

/** A token of a path: constant, or an expression. */
type Token = string | { readonly expression: string };

interface Setting {
  readonly scope: Scope;
  readonly declared: StructuredSchema | undefined;
  readonly path: string;
  /** Parents that an earlier operation of the same mutation created. */
  readonly created: Set<string>;
}

/**
 * Translates `patchesJson6902`: one list of steps for each mutation. The steps of a mutation all see the object before it, so an
 * operation on a path that an earlier one touched starts a new mutation.
 */
export function translateJsonPatch(
  source: string,
  path: string,
  scope: Scope,
  declared: StructuredSchema | undefined,
): readonly (readonly Step[])[] {
  const root = parsePatchText(source);
  if (root.type !== 'list') throw new NotConvertible(path, 'the patch is not a list of operations');
  const groups: Step[][] = [];
  let touched: string[] = [];
  let created = new Set<string>();
  let steps: Step[] = [];
  const startGroup = (): void => {
    touched = [];
    created = new Set();
    steps = [];
    groups.push(steps);
  };
  for (const [index, operation] of root.items.entries()) {
    const at = `${path}[${index}]`;
    const op = textOf(operation, 'op', at);
    const tokens = appending(op, tokensOf(operation, 'path', at, scope));
    const pointers = [
      tokens,
      ...(op === 'copy' || op === 'move' ? [tokensOf(operation, 'from', at, scope)] : []),
    ].map(printTokens);
    if (pointers.some((pointer) => /\/-\d/.test(pointer))) {
      throw new NotConvertible(at, 'an index that counts from the end');
    }
    const conflicts = pointers.some((pointer) => touched.some((other) => areRelated(pointer, other)));
    if (groups.length === 0 || conflicts) {
      if (groups.length > 0 && readsObject(operation)) {
        throw new NotConvertible(
          at,
          'the operation reads the object before the patch, after operations on the same path',
        );
      }
      startGroup();
    }
    touched.push(...pointers);
    const setting: Setting = { scope, declared, path: at, created };
    if (op === 'test') {
      const inner: Step[] = [];
      steps.push({ type: 'assert', condition: testOf(operation, tokens, setting), steps: inner });
      steps = inner;
    } else steps.push(...operationSteps(op, operation, tokens, setting));
  }
  return groups;
}

function textOf(operation: PatchNode, field: string, path: string): string {
  const node = entryOf(operation, field);
  if (node?.type !== 'constant')
    throw new NotConvertible(`${path}.${field}`, 'the operation is not constant');
  return String(node.value);
}

/** The tokens of a path. The value of a variable may contain slashes, which separate tokens, so it is not escaped. */
function tokensOf(operation: PatchNode, field: string, at: string, scope: Scope): readonly Token[] {
  const node = entryOf(operation, field);
  const path = `${at}.${field}`;
  if (node?.type === 'constant') return parsePointer(String(node.value), { lenient: true });
  if (node?.type !== 'template') throw new NotConvertible(path, 'the path is missing');
  const [first, ...tokens] = splitOutsideVariables(node.text);
  if (first !== '') throw new NotConvertible(path, 'the whole path is a variable');
  return tokens.map((token): Token => {
    if (!token.includes('{{')) return parsePointer(`/${token}`, { lenient: true })[0] ?? '';
    return { expression: keyText(token, path, scope).source };
  });
}

/** `add` at -1 appends, as at `-`. */
function appending(op: string, tokens: readonly Token[]): readonly Token[] {
  return op === 'add' && tokens.at(-1) === '-1' ? [...tokens.slice(0, -1), '-'] : tokens;
}

function splitOutsideVariables(source: string): readonly string[] {
  const variables = findVariables(source);
  const tokens: string[] = [];
  let start = 0;
  for (let slash = source.indexOf('/'); slash >= 0; slash = source.indexOf('/', slash + 1)) {
    if (variables.some((variable) => variable.start < slash && slash < variable.end)) continue;
    tokens.push(source.slice(start, slash));
    start = slash + 1;
  }
  return [...tokens, source.slice(start)];
}

function printTokens(tokens: readonly Token[]): string {
  return tokens.map((token) => `/${typeof token === 'string' ? token : '*'}`).join('');
}

/** Appending to the same list twice needs no second look at the object. */
function areRelated(left: string, right: string): boolean {
  if (left === right && left.endsWith('/-')) return false;
  const [a, b] = [left.split('/'), right.split('/')];
  const isList = (token: string | undefined): boolean =>
    token === '-' || token === '*' || /^-?\d+$/.test(token ?? '');
  for (let depth = 0; depth < Math.min(a.length, b.length); depth++) {
    if (isList(a[depth]) && isList(b[depth]) && (depth === a.length - 1 || depth === b.length - 1))
      return true;
    if (a[depth] !== b[depth] && a[depth] !== '*' && b[depth] !== '*') return false;
  }
  return true;
}

function readsObject(node: PatchNode): boolean {
  switch (node.type) {
    case 'constant':
      return false;
    case 'template':
      return /request\.object|\b(?:target)\b/.test(node.text);
    case 'list':
      return node.items.some(readsObject);
    case 'map':
      return node.entries.some(({ key, value }) => readsObject(key) || readsObject(value));
  }
}

const indexToken = /^\d+$/;

function placeOf(tokens: readonly Token[]): Place {
  let place = rootPlace('object');
  for (const token of tokens) place = childOf(place, token);
  return place;
}

function childOf(place: Place, token: Token): Place {
  if (typeof token !== 'string') return selectedBy(place, token.expression);
  return indexToken.test(token) ? indexOf(place, token) : fieldOf(place, token);
}

function operationSteps(
  op: string,
  operation: PatchNode,
  tokens: readonly Token[],
  setting: Setting,
): readonly Step[] {
  const { scope, path } = setting;
  const pointer = pointerText(tokens);
  switch (op) {
    case 'add':
      return [...parentSteps(tokens, setting), add(pointer, writtenValue(operation, tokens, setting))];
    case 'remove':
      return [when(placeOf(tokens).present, [remove(pointer)])];
    case 'replace': {
      const last = tokens.at(-1);
      const value = writtenValue(operation, tokens, setting);
      const step: Step = { type: 'operation', op: 'replace', path: pointer, value };
      if (last === undefined || typeof last !== 'string' || indexToken.test(last)) return [step];
      return [{ type: 'assert', condition: placeOf(tokens).present, steps: [step] }];
    }
    case 'copy':
    case 'move':
      return [
        { type: 'operation', op, path: pointer, from: pointerText(tokensOf(operation, 'from', path, scope)) },
      ];
    default:
      throw new NotConvertible(path, `the operation ${op} has no equivalent`);
  }
}

/** `add` creates all parents: lists before an index or `-`, maps before other tokens. */
function parentSteps(tokens: readonly Token[], setting: Setting): readonly Step[] {
  const steps: Step[] = [];
  let place = rootPlace('object');
  // The element of a loop exists, and so does all that is around it.
  const element = tokens.findLastIndex(isElementIndex);
  for (const [depth, token] of tokens.slice(0, -1).entries()) {
    place = childOf(place, token);
    if (depth <= element) continue;
    const next = tokens[depth + 1];
    const pointer = pointerText(place.pointer);
    if (place.isSure || setting.created.has(pointer)) continue;
    if (typeof token !== 'string') continue;
    setting.created.add(pointer);
    const isList = typeof next === 'string' && (next === '-' || indexToken.test(next));
    steps.push(createParent(isMissing(place), pointer, isList ? '[]' : '{}'));
  }
  return steps;
}

function isElementIndex(token: Token | undefined): boolean {
  return typeof token === 'object' && /^string\(\w+\)$/.test(token.expression);
}

/** The value, with strings where the schema of the field declares them. */
function writtenValue(operation: PatchNode, tokens: readonly Token[], setting: Setting): string {
  const node = entryOf(operation, 'value');
  const { path, declared } = setting;
  if (node === undefined) return 'null';
  const names = tokens.map((token) => (typeof token === 'string' ? token : ''));
  const schema = schemaAt(declared, names);
  const value = nodeText(node, schema, `${path}.value`, setting.scope);
  if (schema !== undefined || node.type !== 'constant' || !isPrintable(node.value)) return value.source;
  const { optional } = placeOf(tokens.at(-1) === '-' ? tokens.slice(0, -1) : tokens);
  if (tokens.at(-1) === '-') return value.source;
  return `type(${optional}.orValue(null)) == string ? dyn('${String(node.value)}') : dyn(${value.source})`;
}

/** Becomes a string where it replaces one. */
function isPrintable(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';
}

function nodeText(
  node: PatchNode,
  schema: StructuredSchema | undefined,
  path: string,
  scope: Scope,
): CelText {
  switch (node.type) {
    case 'constant':
      return literal(asDeclared(node.value, schema), path);
    case 'list':
      return listText(
        node.items.map((item, index) =>
          nodeText(item, schema?.kind === 'list' ? schema.items : undefined, `${path}[${index}]`, scope),
        ),
      );
    case 'map':
      return mapText(
        node.entries.map(({ key, value }) => {
          const name = key.type === 'constant' ? String(key.value) : key.type === 'template' ? key.text : '';
          const field = schema?.kind === 'map' ? schema.field(name) : undefined;
          return { key: keyText(name, path, scope), value: nodeText(value, field, `${path}.${name}`, scope) };
        }),
      );
    case 'template':
      return templateText(node, schema, path, scope);
  }
}

/** An unquoted scalar is read as YAML after its variables are substituted, so that its type depends on the value. */
function templateText(
  { text: source, reading }: Extract<PatchNode, { type: 'template' }>,
  schema: StructuredSchema | undefined,
  path: string,
  scope: Scope,
): CelText {
  const value = translateTemplate(source, path, scope);
  const isString = isText(value);
  const isDeclaredString = schema?.kind === 'scalar' && schema.scalar === 'string';
  if (isDeclaredString || reading === 'text') {
    const known = isString || ['int', 'bool'].includes(value.type) || isDeclaredString;
    if (!known && value.schema?.kind !== 'scalar') {
      throw new NotConvertible(path, 'the type of the variable in quotes is not known');
    }
    const written = isString ? value : text(`string(${value.source})`, 'string');
    if (reading === 'text' || startsAsText(source) || (!isString && value.type !== 'dyn')) return written;
    throw new NotConvertible(
      path,
      'YAML reads the unquoted variable as a number, boolean or null, depending on its value; put it in quotes',
    );
  }
  const isSafe =
    ['int', 'bool', 'list', 'map'].includes(value.type) || isTyped(value) || startsAsText(source);
  if (!isSafe) throw new NotConvertible(path, 'the type of the unquoted variable depends on its value');
  return value;
}

function isTyped({ schema }: CelText): boolean {
  return schema?.kind === 'scalar' && (schema.scalar === 'number' || schema.scalar === 'boolean');
}

/** @example 'team-{{ name }}' is never read as a number, boolean or null */
function startsAsText(source: string): boolean {
  const [prefix = ''] = source.split('{{');
  return /^[A-Za-z]+[^A-Za-z0-9.]/.test(prefix) || /^[a-z]{6,}/.test(prefix);
}

function testOf(operation: PatchNode, tokens: readonly Token[], setting: Setting): string {
  const node = entryOf(operation, 'value');
  const value = nodeText(node ?? { type: 'constant', value: null }, undefined, setting.path, setting.scope);
  return `${placeOf(tokens).optional}.orValue(null) == ${value.source}`;
}
