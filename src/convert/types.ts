import type { JsonObject } from '../json/value.ts';
import type { StructuredSchema } from '../patch/structured/schema.ts';

/** Why a clause cannot be converted exactly. */
export interface Refusal {
  readonly rule?: string | undefined;
  /** Field path in the old policy. */
  readonly path: string;
  readonly reason: string;
}

/** Thrown inside the translators, caught once per rule. */
export class NotConvertible extends Error {
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** Far more than the cost limit of an API server allows. Nested functions may repeat their argument, so that the length grows fast. */
const maximumLength = 100_000;

/** Refuses an expression that nobody could run. The path is that of the rule. */
export function refuseLength(expression: string): void {
  if (expression.length > maximumLength)
    throw new NotConvertible('', `an expression would have more than ${maximumLength} characters`);
}

export type ConversionTarget = 'mutatingpolicy' | 'map';

export type CelType = 'string' | 'int' | 'double' | 'bool' | 'list' | 'map' | 'null' | 'dyn';

/**
 * A CEL expression with its static type as far as known, and how tightly it binds, so that callers parenthesise correctly: a higher
 * precedence binds more tightly.
 */
export interface CelText {
  readonly source: string;
  readonly type: CelType;
  readonly precedence: number;
  /** What the value is by the schema of the object that it is read from. */
  readonly schema?: StructuredSchema | undefined;
  /** Evaluation cannot fail. */
  readonly total?: boolean | undefined;
}

/** What a clause may read, and the variables collected so far; one per converted rule. */
export interface Scope {
  readonly target: ConversionTarget;
  /** The variable that holds the current object. */
  readonly object: string;
  /** The schema of the objects that the rule matches, if it is known. */
  readonly schema?: StructuredSchema | undefined;
  /** The CEL expression of a context entry or a foreach variable (`element`, `elementIndex`, `element0` …). */
  lookup(name: string): CelText | undefined;
  /** Adds a CEL variable and returns `variables.NAME`. The same expression gives the same name; `origin` becomes the comment. */
  variable(hint: string, expression: CelText, origin: string): CelText;
  child(bindings: ReadonlyMap<string, CelText>): Scope;
}

/** The converted policy. */
export interface Conversion {
  readonly documents: readonly ConvertedDocument[];
  /** Not empty: nothing is written unless only a part is wanted. */
  readonly refusals: readonly Refusal[];
  /** Converted, but with a difference, such as a lost transaction. */
  readonly differences: readonly Refusal[];
  /** Converted policies to which exceptions refer. */
  readonly exempted?: readonly ExemptedPolicy[] | undefined;
}

/** A converted policy with the exceptions that must name it. */
export interface ExemptedPolicy {
  readonly name: string;
  readonly kind: string;
  /** NAMESPACE/NAME of the old exceptions. */
  readonly exceptions: readonly string[];
}

export interface ConvertedDocument {
  readonly document: JsonObject;
  /** YAML with comments. */
  readonly text: string;
}
