import type { StructuredSchema } from '../patch/structured/schema.ts';
import { type CelText, type ConversionTarget, refuseLength, type Scope } from './types.ts';

/** One entry of `spec.variables`, in the order of their definition. */
export interface CelVariable {
  readonly name: string;
  readonly expression: string;
  /** Where the expression comes from: the comment in front of the variable. */
  readonly origin: string;
}

/** Precedence of names, literals, calls and selections: they need no parentheses. */
export const primaryPrecedence = 10;

/** The variables of one converted policy. */
export class Variables {
  readonly list: CelVariable[] = [];
  readonly #names = new Map<string, string>();
  readonly #used = new Set<string>();
  readonly #inline = new Map<string, string>();

  /** Defines a variable and returns its name. The same expression gives the same name. */
  define(hint: string, expression: string, origin: string): string {
    const known = this.#names.get(expression);
    if (known !== undefined) return known;
    const name = this.#freeName(identifier(hint));
    this.#used.add(name);
    this.#names.set(expression, name);
    this.list.push({ name, expression, origin });
    return name;
  }

  /** The next mutation sees a changed object, so it cannot use variables that read the object. */
  startMutation(): void {
    const stale = new Set<string>();
    for (const { name, expression } of this.list) {
      const isStale =
        /(?<![\w.])object\b/.test(expression) ||
        [...expression.matchAll(/\bvariables\.(\w+)/g)].some(([, other = '']) => stale.has(other));
      if (!isStale) continue;
      stale.add(name);
      this.#names.delete(expression);
    }
  }

  /** The expression with the variables replaced by their own expressions. */
  inline(expression: string): string {
    const whole = expression.replace(/\bvariables\.(\w+)/g, (written, name: string) => {
      const variable = this.list.find((each) => each.name === name);
      return variable === undefined ? written : `(${this.#inlined(variable)})`;
    });
    refuseLength(whole);
    return whole;
  }

  #inlined({ name, expression }: CelVariable): string {
    const known = this.#inline.get(name);
    if (known !== undefined) return known;
    const whole = this.inline(expression);
    this.#inline.set(name, whole);
    return whole;
  }

  #freeName(name: string): string {
    if (!this.#used.has(name)) return name;
    let number = 2;
    while (this.#used.has(`${name}${number}`)) number += 1;
    return `${name}${number}`;
  }
}

/** The outermost scope of a rule. */
export function createScope(
  target: ConversionTarget,
  variables: Variables,
  object = 'object',
  schema?: StructuredSchema,
): Scope {
  return scopeWith(target, variables, { object, schema }, new Map());
}

function scopeWith(
  target: ConversionTarget,
  variables: Variables,
  root: Pick<Scope, 'object' | 'schema'>,
  bindings: ReadonlyMap<string, CelText>,
): Scope {
  return {
    target,
    ...root,
    lookup: (name) => bindings.get(name),
    variable: (hint, expression, origin) => ({
      source: `variables.${variables.define(hint, expression.source, origin)}`,
      type: expression.type,
      precedence: primaryPrecedence,
      schema: expression.schema,
      total: expression.total,
    }),
    child: (more) => scopeWith(target, variables, root, new Map([...bindings, ...more])),
  };
}

/** A name in lower camel case: `app name` becomes `appName`. */
function identifier(hint: string): string {
  const words = hint.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const name = words
    .map((word, index) =>
      index === 0
        ? `${word.charAt(0).toLowerCase()}${word.slice(1)}`
        : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    )
    .join('');
  return /^[a-z]/.test(name) && !reserved.has(name) ? name : `value${name}`;
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
