import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { childrenOf, type Node } from '../../cel/syntax/ast.ts';
import { parse } from '../../cel/syntax/parser.ts';
import { CelSyntaxError } from '../../cel/syntax/problem.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import type { FieldTree } from './field-tree.ts';

type Names = ReadonlyMap<string, readonly Path[]>;

/** Adds the fields that the expressions of a CEL policy read, and the constants that they contain. */
export function addCelFields(tree: FieldTree, policy: JsonObject): void {
  const spec = readObject(policy, 'spec') ?? {};
  const names = new Map<string, readonly Path[]>([
    ['object', [[]]],
    ['oldObject', [[]]],
  ]);
  for (const variable of readObjects(spec, 'variables')) {
    const paths = addExpression(tree, readText(variable, 'expression'), names);
    names.set(`variables.${readText(variable, 'name')}`, paths);
  }
  for (const condition of readObjects(spec, 'matchConditions'))
    addExpression(tree, readText(condition, 'expression'), names);
  for (const mutation of readObjects(spec, 'mutations')) {
    for (const field of ['applyConfiguration', 'jsonPatch'])
      addExpression(tree, readText(readObject(mutation, field) ?? {}, 'expression'), names);
  }
}

function addExpression(tree: FieldTree, source: string | undefined, names: Names): readonly Path[] {
  if (source === undefined) return [];
  try {
    return new Reader(tree).read(parse(source, mutatingPolicyEnvironment().macros), names).paths;
  } catch (error) {
    if (error instanceof CelSyntaxError) return [];
    throw error;
  }
}

interface Source {
  readonly paths: readonly Path[];
  readonly constants: readonly Json[];
}

const nothing: Source = { paths: [], constants: [] };

class Reader {
  readonly #tree: FieldTree;

  constructor(tree: FieldTree) {
    this.#tree = tree;
  }

  read(node: Node, names: Names): Source {
    switch (node.kind) {
      case 'literal':
        return typeof node.value === 'object' && node.value !== null
          ? nothing
          : { paths: [], constants: [node.value as Json] };
      case 'ident':
        return { paths: names.get(node.name) ?? [], constants: [] };
      case 'select': {
        if (node.operand.kind === 'ident' && node.operand.name === 'variables')
          return { paths: names.get(`variables.${node.field}`) ?? [], constants: [] };
        if (node.operand.kind === 'ident' && node.operand.name === 'request') {
          if (node.field === 'object' || node.field === 'oldObject') return { paths: [[]], constants: [] };
          return {
            paths: node.field === 'name' || node.field === 'namespace' ? [['metadata', node.field]] : [],
            constants: [],
          };
        }
        return this.#below(this.read(node.operand, names), node.field);
      }
      case 'call':
        return this.#call(node, names);
      case 'comprehension': {
        const range = this.read(node.range, names);
        const items = this.#below(range, 0).paths;
        const inner = new Map(names).set(node.variables.at(-1) ?? '', items);
        if (node.condition !== undefined) this.read(node.condition, inner);
        const body = this.read(node.body, inner);
        return node.macro === 'filter' || node.macro === 'sortBy' ? range : body;
      }
      case 'bind':
        return this.read(node.body, new Map(names).set(node.variable, this.read(node.value, names).paths));
      case 'optMap':
        return this.read(node.body, new Map(names).set(node.variable, this.read(node.target, names).paths));
      default:
        return this.#together(childrenOf(node).map((child) => this.read(child, names)));
    }
  }

  #call(node: Extract<Node, { kind: 'call' }>, names: Names): Source {
    if (node.name === '_[_]' || node.name === '_[?_]') {
      const [operand, index] = node.args;
      if (operand === undefined || index === undefined) return nothing;
      const key = index.kind === 'literal' && typeof index.value === 'string' ? index.value : 0;
      return this.#below(this.read(operand, names), key);
    }
    return this.#together(childrenOf(node).map((child) => this.read(child, names)));
  }

  #below({ paths }: Source, token: string | number): Source {
    const below = paths.map((path) => [...path, token]);
    for (const path of below) this.#tree.add(path);
    return { paths: below, constants: [] };
  }

  #together(sources: readonly Source[]): Source {
    const paths = sources.flatMap((source) => source.paths);
    const constants = sources.flatMap((source) => source.constants);
    for (const path of paths) for (const value of constants) this.#tree.addValue(path, value);
    return { paths, constants };
  }
}
