import type { Node } from '../../../expression/jmespath/ast.ts';
import { type StructuredSchema, scalarSchemas } from '../../../patch/structured/schema.ts';
import type { CelText, CelType } from '../../types.ts';
import { asDyn, precedence, text } from '../cel-text.ts';
import { classOf, definite, presentValue, type Term, type ValueClass } from '../term.ts';
import { isTotal, refuse, type Translation } from '../translation.ts';

export type CallNode = Extract<Node, { type: 'call' }>;

/** The arguments of one call. */
export class Arguments {
  readonly #node: CallNode;
  readonly #translation: Translation;
  readonly #terms = new Map<number, Term>();

  constructor(node: CallNode, translation: Translation) {
    this.#node = node;
    this.#translation = translation;
  }

  get length(): number {
    return this.#node.args.length;
  }

  get translation(): Translation {
    return this.#translation;
  }

  term(index: number): Term {
    const known = this.#terms.get(index);
    if (known !== undefined) return known;
    const term = this.#translation.translate(this.#node.args[index] as Node, this.#translation);
    this.#terms.set(index, term);
    return term;
  }

  /** The argument must be of a class; a value of another class, null and a missing key are an error in both languages. */
  of(index: number, ...kinds: readonly ValueClass[]): Term {
    const term = this.term(index);
    const kind = classOf(term);
    // A field that is read as a map or a list is one; of other values it is not known.
    const isField = term.optional !== undefined && term.mixed !== true;
    const isPolymorphic = kinds.includes('map') || kinds.includes('list') || polymorphic.has(this.#node.name);
    if (kind === 'unknown' && !isField && isPolymorphic) {
      this.refuse(`the type of argument ${index + 1} of ${this.#node.name}() is not known`);
    }
    if (kind !== 'unknown' && !kinds.includes(kind)) {
      this.refuse(`argument ${index + 1} of ${this.#node.name}() has the wrong type`);
    }
    // The checker may take such a value for null.
    if (kind === 'unknown' && term.optional === undefined && term.uncertain === true)
      return { ...asDyn(term), total: false };
    const isKnown = kind !== 'unknown' && term.optional === undefined;
    const isNull = term.optional !== undefined && term.missing === 'null';
    const source = term.direct ?? (isNull ? presentValue(term.optional ?? '') : term.source);
    const level = term.direct === undefined && !isNull ? term.precedence : precedence.primary;
    return { ...term, source, precedence: level, optional: undefined, total: isKnown && term.total === true };
  }

  constantText(index: number): string | undefined {
    const { constant } = this.term(index);
    return typeof constant === 'string' ? constant : undefined;
  }

  /** An `&expression`, applied to an item. */
  apply(index: number, item: Term, names: readonly string[]): Term {
    const node = this.#node.args[index] as Node;
    const child = node.type === 'reference' ? node.child : node;
    return this.#translation.translate(child, { ...this.#translation, names, current: item });
  }

  refuse(reason: string): never {
    return refuse(this.#translation, reason);
  }
}

/** Functions of strings whose form in CEL also takes other values. */
const polymorphic = new Set(['truncate', 'trim_prefix']);

export type Translate = (args: Arguments) => Term;

export const stringList: StructuredSchema = {
  kind: 'list',
  merge: 'atomic',
  keys: [],
  items: scalarSchemas.string,
};

/** A call in CEL that fails only where one of its parts fails. */
export function call(
  source: string,
  type: CelType,
  parts: readonly CelText[],
  schema?: StructuredSchema,
): Term {
  return definite(text(source, type), { total: parts.every(isTotal), schema });
}

export const onlyMutatingPolicy = (args: Arguments, name: string): void => {
  if (args.translation.scope.target === 'map') args.refuse(`Kubernetes has no function like ${name}()`);
};
