import type { ErrorCode } from '../errors.ts';
import { admissionLimits, Budget, BudgetError, type BudgetLimits, withBudget } from '../json/budget.ts';
import type { Json, JsonObject, Path } from '../json/value.ts';

/** The variables of an expression: `request`, `images`, `element`, context entries … */
export interface Scope {
  /**
   * The value bound to a root name; lazy bindings are computed on first use.
   * Undefined when nothing binds the name. May throw EvaluationError (a context entry that fails)
   * or Suspend (its data must be fetched first).
   */
  lookup(name: string): Json | undefined;
  /** All bindings as one object: the value of a bare `@`. */
  snapshot(): JsonObject;
  readonly environment: Environment;
}

/** Clock, randomness and settings: pure layers receive every effect as a parameter. */
export interface Environment {
  now(): Date;
  /** In [0, 1). */
  random(): number;
  /** Addresses of a host name, for `is_external_url`. Undefined when the name cannot be resolved. */
  resolveHost?(host: string): readonly string[] | undefined;
  /** How images without a registry are read. Defaults to Docker Hub. */
  readonly imageDefaults?: ImageDefaults | undefined;
  /** For CEL's `gzip.compress` and `gzip.decompress`; not available everywhere. */
  readonly gzip?:
    | { compress(data: Uint8Array): Uint8Array; decompress(data: Uint8Array): Uint8Array }
    | undefined;
  /** Set only for explanations, so that ordinary evaluation does not pay for it. */
  readonly observer?: Observer | undefined;
}

export interface ImageDefaults {
  readonly defaultRegistry: string;
  /** Whether references without a registry get the default one. */
  readonly enableDefaultRegistryMutation: boolean;
}

/** Receives intermediate results for an explanation. */
export interface Observer {
  /** The expression evaluated to `value`. */
  variable(text: string, value: Json): void;
  /** An anchor was evaluated at a path of the object. `+( )` holds where it adds a field. */
  anchor(anchor: string, path: Path, held: boolean): void;
}

/** Raised while evaluating policy content; the engine turns it into a failed outcome. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
  readonly code: ErrorCode;
  /** Path in the rule of the template or expression that failed, when it is more exact than the stage. */
  readonly location: Path | undefined;
  /** The cause without values of objects and data, for answers and logs. The message may contain them. */
  readonly reason: string | undefined;
  constructor(code: ErrorCode, message: string, options?: EvaluationErrorOptions) {
    super(message, options);
    this.code = code;
    this.location = options?.location;
    const { cause } = this;
    this.reason = options?.reason ?? (cause instanceof EvaluationError ? cause.reason : undefined);
  }
}

export interface EvaluationErrorOptions extends ErrorOptions {
  readonly location?: Path | undefined;
  readonly reason?: string | undefined;
}

/**
 * Raised when evaluation needs data that must be fetched. Evaluation is pure, so the caller
 * waits for the promise and evaluates again.
 */
export class Suspend extends Error {
  override readonly name = 'Suspend';
  readonly ready: Promise<unknown>;
  constructor(ready: Promise<unknown>) {
    super('evaluation is waiting for data');
    this.ready = ready;
  }
}

/**
 * Evaluates again whenever data has arrived, until none is missing. Evaluation is pure, so repeating it is safe. All
 * attempts share one budget. Throws EvaluationError when it is exhausted.
 */
export async function untilReady<T>(evaluate: () => T, limits: BudgetLimits = admissionLimits): Promise<T> {
  const budget = new Budget(limits);
  for (;;) {
    try {
      return withBudget(budget, evaluate);
    } catch (error) {
      if (error instanceof BudgetError) {
        const { code, message, location } = error;
        throw new EvaluationError(code, message, { cause: error, location });
      }
      if (!(error instanceof Suspend)) throw error;
      await error.ready;
    }
  }
}

/** For templates without variables, where rendering only unescapes `\{{`. */
export const emptyScope: Scope = {
  lookup: () => undefined,
  snapshot: () => ({}),
  environment: { now: () => new Date(0), random: () => 0 },
};
