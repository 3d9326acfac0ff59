import {
  type CallNode,
  type LiteralNode,
  type LogicNode,
  locate,
  make,
  mapChildren,
  type Node,
  type SelectNode,
  type StructNode,
} from '../../cel/syntax/ast.ts';
import { parse } from '../../cel/syntax/parser.ts';

/**
 * What an expression is for: only mutations, and the variables that they read, name types and paths of the object that they build. With
 * `objectVariable` the policy has ApplyConfigurations, so that an `Object` in a variable is a part of one.
 */
export type ExpressionRole = 'condition' | 'variable' | 'objectVariable' | 'applyConfiguration' | 'jsonPatch';

const buildsObjects: ReadonlySet<ExpressionRole> = new Set(['applyConfiguration', 'objectVariable']);
const buildsPatches: ReadonlySet<ExpressionRole> = new Set(['jsonPatch', 'variable', 'objectVariable']);

/** A place in the source: an offset, or before or after the first text at or after one. */
type Place =
  | number
  | { readonly after: string; readonly from: number; readonly before?: boolean | undefined };
/** Called with what makes the source of the rewritten tree, if inserted into the source of the tree. */
type Insert = (place: Place, text: string) => void;

/** The source of the tree that `rewriteForTemplate` returns. */
export function rewriteSourceForTemplate(
  source: string,
  macros: Parameters<typeof parse>[1],
  template: readonly string[],
  role: ExpressionRole,
): string {
  const insertions: { readonly at: number; readonly text: string }[] = [];
  rewriteForTemplate(parse(source, macros), template, role, (place, text) => {
    insertions.push({ at: typeof place === 'number' ? place : offsetOf(source, place), text });
  });
  // Of several at one place, the outer one is first: it was found first.
  const ordered = insertions.toSorted((left, right) => left.at - right.at);
  let result = '';
  let end = 0;
  for (const { at, text } of ordered) {
    result += source.slice(end, at) + text;
    end = at;
  }
  return result + source.slice(end);
}

function offsetOf(source: string, { after, from, before = false }: Exclude<Place, number>): number {
  const found = Math.max(source.indexOf(after, from), from);
  return before ? found : found + after.length;
}

const roots: ReadonlySet<string> = new Set(['object', 'oldObject']);
const boundNames: ReadonlySet<string> = new Set([...roots, 'request']);
const podMetadata: ReadonlySet<string> = new Set(['labels', 'annotations']);

/**
 * Translates an expression about Pods to a controller whose Pod template is at `template`: `object.spec` and the labels and
 * annotations of the object become those of the template, and so do `Object` types and the paths of JSONPatch operations.
 */
export function rewriteForTemplate(
  node: Node,
  template: readonly string[],
  role: ExpressionRole,
  insert: Insert = () => {},
): Node {
  const rewriteAs = (purpose: ExpressionRole): ((current: Node, shadowed: ReadonlySet<string>) => Node) => {
    const rewrite = (current: Node, shadowed: ReadonlySet<string>): Node => {
      const moved =
        movedAccess(current, template, shadowed, insert) ?? movedIn(current, template, shadowed, insert);
      if (moved !== undefined) return moved;
      if (current.kind === 'struct') {
        if (buildsObjects.has(purpose) && isObjectType(current.typeName)) {
          return movedStruct(current, template, insert, (child) => rewrite(child, shadowed));
        }
        if (buildsPatches.has(purpose) && current.typeName === 'JSONPatch') {
          // Types in the value of an operation are relative to the value.
          const inner = rewriteAs('jsonPatch');
          return movedOperation(current, template, insert, (child) => inner(child, shadowed));
        }
      }
      const { names, outside } = bindingOf(current);
      if (names.length === 0) return mapChildren(current, (child) => rewrite(child, shadowed));
      const inner = new Set([...shadowed, ...names]);
      return mapChildren(current, (child) => rewrite(child, child === outside ? shadowed : inner));
    };
    return rewrite;
  };
  return rewriteAs(role)(node, new Set());
}

/** Variables of macros may hide `object`, except in what they range over. */
function bindingOf(node: Node): { readonly names: readonly string[]; readonly outside?: Node } {
  switch (node.kind) {
    case 'comprehension':
      return { names: node.variables.filter((name) => boundNames.has(name)), outside: node.range };
    case 'bind':
      return { names: [node.variable].filter((name) => boundNames.has(name)), outside: node.value };
    case 'optMap':
      return { names: [node.variable].filter((name) => boundNames.has(name)), outside: node.target };
    default:
      return { names: [] };
  }
}

/** `operand.field`, `operand["field"]`, or one of their optional forms. */
interface Access {
  readonly node: SelectNode | CallNode;
  readonly operand: Node;
  readonly field: string;
  readonly isOptional: boolean;
}

function accessOf(node: Node): Access | undefined {
  if (node.kind === 'select')
    return { node, operand: node.operand, field: node.field, isOptional: node.mode === 'optional' };
  if (node.kind !== 'call' || (node.name !== '_[_]' && node.name !== '_[?_]')) return undefined;
  const [operand, key] = node.args;
  if (operand === undefined || key?.kind !== 'literal' || typeof key.value !== 'string') return undefined;
  return { node, operand, field: key.value, isOptional: node.name === '_[?_]' };
}

function withOperand({ node }: Access, operand: Node): Node {
  const draft =
    node.kind === 'select' ? { ...node, operand } : { ...node, args: [operand, ...node.args.slice(1)] };
  return locate(make<SelectNode | CallNode>(draft), node.start, node.end);
}

/** `object` as it is written: `object`, `oldObject`, `request.object` or `request.oldObject`. */
function rootName(node: Node, shadowed: ReadonlySet<string>): string | undefined {
  if (node.kind === 'ident') return roots.has(node.name) && !shadowed.has(node.name) ? node.name : undefined;
  const access = accessOf(node);
  if (access === undefined || access.isOptional || !roots.has(access.field)) return undefined;
  const { operand } = access;
  const isRequest = operand.kind === 'ident' && operand.name === 'request' && !shadowed.has('request');
  return isRequest ? `request.${access.field}` : undefined;
}

/** `root.metadata`. */
function metadataAccess(
  node: Node,
  shadowed: ReadonlySet<string>,
): (Access & { readonly root: string }) | undefined {
  const access = accessOf(node);
  if (access?.field !== 'metadata') return undefined;
  const root = rootName(access.operand, shadowed);
  return root === undefined ? undefined : { ...access, root };
}

function movedAccess(
  node: Node,
  template: readonly string[],
  shadowed: ReadonlySet<string>,
  insert: Insert,
): Node | undefined {
  const access = accessOf(node);
  if (access === undefined) return undefined;
  const { operand, isOptional } = access;
  if (access.field === 'spec') {
    const root = rootName(operand, shadowed);
    if (root === undefined) return undefined;
    insert(operand.end, selectors(template, isOptional));
    const parent = below(node, operand, template, isOptional);
    return guarded(node, operand, { root, path: template }, insert, withOperand(access, parent));
  }
  const metadata = podMetadata.has(access.field) ? metadataAccess(operand, shadowed) : undefined;
  if (metadata === undefined) return undefined;
  const object = metadata.operand;
  insert(object.end, selectors(template, metadata.isOptional));
  const parent = below(operand, object, template, metadata.isOptional);
  // A Pod has metadata, a template may have none.
  const isAdded = isOptional && !metadata.isOptional && metadata.node.kind === 'select';
  if (isAdded) insert({ after: '.', from: object.end }, '?');
  const place = isAdded ? select(operand, parent, 'metadata', 'optional') : withOperand(metadata, parent);
  const path = [...template, 'metadata'];
  return guarded(node, object, { root: metadata.root, path }, insert, withOperand(access, place));
}

/** `has(object.spec.template.metadata.labels)` fails without the metadata, so `has` tests what leads there first. */
function guarded(
  node: Node,
  object: Node,
  { root, path }: { readonly root: string; readonly path: readonly string[] },
  insert: Insert,
  moved: Node,
): Node {
  if (node.kind !== 'select' || node.mode !== 'test') return moved;
  const tests = path.map((field, depth) =>
    select(node, below(node, object, path.slice(0, depth), false), field, 'test'),
  );
  const texts = path.map((_, depth) => `has(${[root, ...path.slice(0, depth + 1)].join('.')}) && `);
  insert(node.start, `(${texts.join('')}`);
  insert(node.end, ')');
  const draft = { kind: 'logic', operator: '&&', offset: node.offset, operands: [...tests, moved] } as const;
  return locate(make<LogicNode>(draft), node.start, node.end);
}

/** `"labels" in object.metadata`. */
function movedIn(
  node: Node,
  template: readonly string[],
  shadowed: ReadonlySet<string>,
  insert: Insert,
): Node | undefined {
  if (node.kind !== 'call' || node.name !== '@in') return undefined;
  const [key, container] = node.args;
  if (key?.kind !== 'literal' || typeof key.value !== 'string' || !podMetadata.has(key.value))
    return undefined;
  const metadata = container === undefined ? undefined : metadataAccess(container, shadowed);
  if (metadata === undefined || metadata.isOptional) return undefined;
  insert(metadata.operand.end, selectors(template, false));
  const moved = withOperand(metadata, below(node, metadata.operand, template, false));
  return locate(make<CallNode>({ ...node, args: [key, moved] }), node.start, node.end);
}

/** `object.spec.template`, with `.?` where the original has it. */
function below(place: Node, root: Node, template: readonly string[], isOptional: boolean): Node {
  const mode = isOptional ? 'optional' : 'value';
  return template.reduce((operand, field) => select(place, operand, field, mode), root);
}

function selectors(template: readonly string[], isOptional: boolean): string {
  return template.map((field) => `${isOptional ? '.?' : '.'}${field}`).join('');
}

function select(place: Node, operand: Node, field: string, mode: SelectNode['mode']): SelectNode {
  const draft = { kind: 'select', offset: place.offset, operand, field, mode } as const;
  return locate(make<SelectNode>(draft), place.start, place.end);
}

function isObjectType(name: string): boolean {
  return name === 'Object' || name.startsWith('Object.');
}

function movedStruct(
  node: StructNode,
  template: readonly string[],
  insert: Insert,
  change: (child: Node) => Node,
): Node {
  if (node.typeName === 'Object') insert(node.start, structsAround(template));
  insert({ after: 'Object', from: node.start }, template.map((field) => `.${field}`).join(''));
  if (node.typeName === 'Object') insert(node.end, '}'.repeat(template.length));
  const typeName = ['Object', ...template, ...node.typeName.split('.').slice(1)].join('.');
  const inner = { ...(mapChildren(node, change) as StructNode), typeName };
  if (node.typeName !== 'Object') return inner;
  // The whole configuration goes below the fields that lead to the template.
  return template.reduceRight<Node>((value, field, depth) => {
    const name = ['Object', ...template.slice(0, depth)].join('.');
    const draft = {
      kind: 'struct',
      offset: node.offset,
      typeName: name,
      fields: [{ name: field, value, optional: false, offset: node.offset }],
    } as const;
    return locate(make<StructNode>(draft), node.start, node.end);
  }, inner);
}

/** `Object{spec: Object.spec{template: `. */
function structsAround(template: readonly string[]): string {
  return template
    .map((field, depth) => `${['Object', ...template.slice(0, depth)].join('.')}{${field}: `)
    .join('');
}

function movedOperation(
  node: StructNode,
  template: readonly string[],
  insert: Insert,
  change: (child: Node) => Node,
): Node {
  const moved = mapChildren(node, change) as StructNode;
  const fields = moved.fields.map((field) =>
    field.name === 'path' || field.name === 'from'
      ? { ...field, value: movedPaths(field.value, template, insert) }
      : field,
  );
  return { ...moved, fields };
}

const podPath = /^\/(?:spec|metadata\/(?:labels|annotations))(?=\/|$)/;

/** Paths in string literals, also in parts such as `"/spec/containers/" + string(i)`. */
function movedPaths(node: Node, template: readonly string[], insert: Insert): Node {
  if (node.kind === 'literal') {
    if (typeof node.value !== 'string' || !podPath.test(node.value)) return node;
    insert({ after: '/', from: node.start, before: true }, `/${template.join('/')}`);
    const literal: LiteralNode = { ...node, value: `/${template.join('/')}${node.value}` };
    return literal;
  }
  return mapChildren(node, (child) => movedPaths(child, template, insert));
}

/** Kyverno rewrites text: string literals and comments too, but neither variables nor JSONPatch expressions. */
export function rewriteTextForTemplate(
  source: string,
  template: readonly string[],
  role: ExpressionRole,
): string {
  if (role !== 'condition' && role !== 'applyConfiguration') return source;
  const prefix = template.join('.');
  const moved = source
    .replace(/\b(object|oldObject|Object)\.spec/g, `$1.${prefix}.spec`)
    .replace(/\b(object|oldObject|Object)\.metadata\.(labels|annotations)/g, `$1.${prefix}.metadata.$2`);
  const [head] = /^\s*Object[ \t\r\n]*\{/.exec(moved) ?? [];
  if (head === undefined) return moved;
  const end = closingBrace(moved, head.length);
  if (end <= head.length) return moved;
  const type = ['Object', ...template].join('.');
  const inner = `${structsAround(template)}${type}{${moved.slice(head.length, end)}${'}'.repeat(template.length + 1)}`;
  return `${inner}${moved.slice(end + 1).trimEnd()}`;
}

/** The brace that closes the one before `from`, braces in strings included. -1 if there is none. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let index = from; index < text.length; index++) {
    if (text[index] === '{') open++;
    if (text[index] === '}' && --open === 0) return index;
  }
  return -1;
}
