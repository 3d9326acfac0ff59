import type { Node } from '../../expression/jmespath/ast.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { precedence, ternary, text, within } from './cel-text.ts';
import { classOf, definite, type Term } from './term.ts';

/** What the nodes of one expression share. */
export interface Translation {
  readonly path: string;
  readonly scope: Scope;
  /** Values of the nested `{{ }}` variables, by index. */
  readonly variables: readonly Term[];
  /** Names of the macro variables around a node. */
  readonly names: readonly string[];
  /** Undefined at the root. */
  readonly current: Term | undefined;
  translate(node: Node, translation: Translation): Term;
}

export function refuse({ path }: Pick<Translation, 'path'>, reason: string): never {
  throw new NotConvertible(path, reason);
}

export function isTotal({ total }: CelText): boolean {
  return total === true;
}

/** A name for a macro variable that hides no name around it. */
export function freshName(
  hint: string,
  { names, scope }: Pick<Translation, 'names' | 'scope'>,
): readonly [string, readonly string[]] {
  const isTaken = (name: string): boolean => names.includes(name) || scope.lookup(name) !== undefined;
  let name = hint;
  for (let number = 2; isTaken(name); number++) name = `${hint}${number}`;
  return [name, [...names, name]];
}

/** `'a' + b`. */
export function concatenate(parts: readonly Term[]): Term {
  if (parts.length === 1) return parts[0] as Term;
  const source = parts.map((part) => within(part, precedence.sum)).join(' + ');
  return definite(text(source, 'string', precedence.sum), { total: parts.every(isTotal) });
}

/** A value as Kyverno inserts it into a string: strings as they are, everything else as JSON. */
export function printed(term: Term, translation: Pick<Translation, 'path' | 'scope'>): Term {
  const { source, total } = term;
  const kind = classOf(term);
  if (typeof term.constant === 'string' || kind === 'string') return { ...term, optional: undefined };
  if (kind === 'boolean' || term.type === 'int')
    return definite(text(`string(${source})`, 'string'), { total });
  if (translation.scope.target === 'map') {
    return refuse(
      translation,
      'the type of a value in a string is not known, and Kubernetes has no function that prints any value',
    );
  }
  const json = text(`json.marshal(${source})`, 'string');
  if (kind !== 'unknown') return definite(json, { total });
  const isString = text(`type(${source}) == string`, 'bool', precedence.relation);
  return definite(ternary(isString, text(`string(${source})`, 'string'), json), { total });
}

/** Null, whatever the operands are, unless one of them fails. */
export function nullOf(operands: readonly Term[], translation: Translation): Term {
  if (operands.some((operand) => operand.optional === undefined && !isTotal(operand))) {
    return refuse(translation, 'the expression is null unless a part of it fails');
  }
  return definite(text('null', 'null'), { constant: null });
}
