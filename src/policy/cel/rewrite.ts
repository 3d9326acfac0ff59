import {
  type LiteralNode,
  locate,
  make,
  mapChildren,
  type Node,
  type SelectNode,
  type StructNode,
} from '../../cel/syntax/ast.ts';
import { parse } from '../../cel/syntax/parser.ts';

/** What an expression is for: only mutations name types and paths of the object that they build. */
export type ExpressionRole = 'condition' | 'variable' | 'applyConfiguration' | 'jsonPatch';

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
  const rewrite = (current: Node, shadowed: ReadonlySet<string>): Node => {
    if (current.kind === 'select') {
      const moved = movedSelect(current, template, shadowed, insert);
      if (moved !== undefined) return moved;
    }
    if (current.kind === 'struct') {
      if (role === 'applyConfiguration' && isObjectType(current.typeName)) {
        return movedStruct(current, template, insert, (child) => rewrite(child, shadowed));
      }
      if (role === 'jsonPatch' && current.typeName === 'JSONPatch') {
        return movedOperation(current, template, insert, (child) => rewrite(child, shadowed));
      }
    }
    const names = namesBoundBy(current);
    const inner = names.length === 0 ? shadowed : new Set([...shadowed, ...names]);
    return mapChildren(current, (child) => rewrite(child, inner));
  };
  return rewrite(node, new Set());
}

/** Variables of macros may hide `object`. */
function namesBoundBy(node: Node): readonly string[] {
  if (node.kind === 'comprehension') return node.variables.filter((name) => roots.has(name));
  const isBinding = node.kind === 'bind' || node.kind === 'optMap';
  return isBinding && roots.has(node.variable) ? [node.variable] : [];
}

function isRoot(node: Node, shadowed: ReadonlySet<string>): boolean {
  return node.kind === 'ident' && roots.has(node.name) && !shadowed.has(node.name);
}

function movedSelect(
  node: SelectNode,
  template: readonly string[],
  shadowed: ReadonlySet<string>,
  insert: Insert,
): Node | undefined {
  const { operand } = node;
  if (node.field === 'spec' && isRoot(operand, shadowed)) {
    insert(operand.end, selectors(node, template));
    return { ...node, ...heightOf(below(node, operand, template)), operand: below(node, operand, template) };
  }
  const isMetadata =
    podMetadata.has(node.field) &&
    operand.kind === 'select' &&
    operand.field === 'metadata' &&
    isRoot(operand.operand, shadowed);
  if (!isMetadata) return undefined;
  insert(operand.operand.end, selectors(operand, template));
  const parent = below(operand, operand.operand, template);
  const metadata = select(operand, parent, 'metadata', operand.mode);
  return { ...node, ...heightOf(metadata), operand: metadata };
}

function heightOf(operand: Node): { readonly height: number } {
  return { height: operand.height + 1 };
}

/** `object.spec.template`, with `.?` where the original has it. */
function below(place: SelectNode, root: Node, template: readonly string[]): Node {
  const mode = place.mode === 'optional' ? 'optional' : 'value';
  return template.reduce((operand, field) => select(place, operand, field, mode), root);
}

function selectors(place: SelectNode, template: readonly string[]): string {
  return template.map((field) => `${place.mode === 'optional' ? '.?' : '.'}${field}`).join('');
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
  if (role === 'variable' || role === 'jsonPatch') return source;
  const prefix = template.join('.');
  const moved = source
    .replace(/\b(object|oldObject|Object)\.spec\b/g, `$1.${prefix}.spec`)
    .replace(/\b(object|oldObject|Object)\.metadata\.(labels|annotations)\b/g, `$1.${prefix}.metadata.$2`);
  if (role !== 'applyConfiguration' || !/^\s*Object\s*\{/.test(moved)) return moved;
  return template.reduceRight(
    (inner, field, depth) => {
      const name = ['Object', ...template.slice(0, depth)].join('.');
      return `${name}{${field}: ${inner}}`;
    },
    moved.trim().replace(/^Object/, ['Object', ...template].join('.')),
  );
}
