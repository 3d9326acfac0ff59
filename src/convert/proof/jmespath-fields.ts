import type { Node } from '../../expression/jmespath/ast.ts';
import { parseExpression } from '../../expression/jmespath/parser.ts';
import { ExpressionSyntaxError } from '../../expression/jmespath/syntax-error.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import type { Json, Path } from '../../json/value.ts';
import type { FieldTree } from './field-tree.ts';

/** The fields of the object that a name of an expression stands for: `element`, or an entry of the context. */
export type Names = ReadonlyMap<string, readonly Path[]>;

/** Where a part of an expression comes from: fields of the object, and constants. */
interface Source {
  readonly paths: readonly Path[];
  readonly constants: readonly Json[];
}

const nothing: Source = { paths: [], constants: [] };

/** Adds the fields that a text with variables reads, and returns them. */
export function addTextFields(tree: FieldTree, text: string, names: Names): readonly Path[] {
  return findVariables(text).flatMap(({ expression }) => addExpressionFields(tree, expression, names));
}

/** Adds the fields that a JMESPath expression reads, with the constants they are compared with. */
export function addExpressionFields(tree: FieldTree, text: string, names: Names): readonly Path[] {
  const node = parsed(text);
  if (node === undefined) return text.includes('{{') ? addTextFields(tree, text, names) : [];
  return new Reader(tree, names).read(node, undefined).paths;
}

function parsed(text: string): Node | undefined {
  try {
    return parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return undefined;
    throw error;
  }
}

class Reader {
  readonly #tree: FieldTree;
  readonly #names: Names;

  constructor(tree: FieldTree, names: Names) {
    this.#tree = tree;
    this.#names = names;
  }

  /** `current` is undefined where names are looked up in the context. */
  read(node: Node, current: readonly Path[] | undefined): Source {
    switch (node.type) {
      case 'path': {
        const steps = node.steps.map((step) => (typeof step === 'object' ? '' : step));
        const paths =
          node.head === undefined ? this.#start(steps, current) : this.read(node.head, current).paths;
        const rest = node.head === undefined && current === undefined ? [] : steps;
        return this.#keep(paths.map((path) => [...path, ...rest.map(asItem)]));
      }
      case 'literal':
        return { paths: [], constants: [node.value] };
      case 'bound-text':
      case 'bound-json':
        return nothing;
      case 'chain':
        return this.read(node.right, this.read(node.left, current).paths);
      case 'pipe':
        return node.children.reduce<Source>(
          (left, child, index) => this.read(child, index === 0 ? current : left.paths),
          nothing,
        );
      case 'or':
      case 'and':
      case 'list':
        return this.#together(node.children.map((child) => this.read(child, current)));
      case 'not':
      case 'reference':
        return this.read(node.child, current);
      case 'flatten':
        return this.read(node.child, current);
      case 'compare':
        return this.#together([this.read(node.left, current), this.read(node.right, current)]);
      case 'hash':
        return this.#together(node.entries.map(({ value }) => this.read(value, current)));
      case 'projection':
      case 'value-projection':
        return this.read(node.right, this.#items(this.read(node.left, current)));
      case 'filter': {
        const items = this.#items(this.read(node.left, current));
        this.read(node.condition, items);
        return this.read(node.right, items);
      }
      case 'slice':
        return this.read(node.left, current);
      case 'call':
        return this.#together(node.args.map((arg) => this.read(arg, current)));
    }
  }

  /** A name at the start of an expression, or a member of the current value. */
  #start(steps: readonly (string | number)[], current: readonly Path[] | undefined): readonly Path[] {
    if (current !== undefined) return current;
    const [first, second, ...rest] = steps;
    if (first === 'request' && (second === 'object' || second === 'oldObject')) return [rest.map(asItem)];
    if (first === 'request' && (second === 'name' || second === 'namespace')) return [['metadata', second]];
    if (first === 'target') return [steps.slice(1).map(asItem)];
    const known = typeof first === 'string' ? this.#names.get(first) : undefined;
    return (known ?? []).map((path) => [...path, ...steps.slice(1).map(asItem)]);
  }

  #items({ paths }: Source): readonly Path[] {
    return this.#keep(paths.map((path) => [...path, 0])).paths;
  }

  #keep(paths: readonly Path[]): Source {
    for (const path of paths) this.#tree.add(path);
    return { paths, constants: [] };
  }

  /** The fields of one comparison, call or choice may have each of its constants. */
  #together(sources: readonly Source[]): Source {
    const paths = sources.flatMap((source) => source.paths);
    const constants = sources.flatMap((source) => source.constants);
    for (const path of paths) for (const value of constants) this.#tree.addValue(path, value);
    return { paths, constants };
  }
}

function asItem(step: string | number): string | number {
  return typeof step === 'number' ? 0 : step;
}
