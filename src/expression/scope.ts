import type { ErrorCode } from '../errors.ts';
import type { Json, JsonObject, Path } from '../json/value.ts';

/** What an expression can read: `request`, `images`, `element`, context entries … */
export interface Scope {
  /**
   * The value bound to a root name; lazy bindings are computed on first use.
   * Undefined when nothing binds the name. May throw EvaluationError (a context entry that fails)
   * or Suspend (its data has to be fetched first).
   */
  lookup(name: string): Json | undefined;
  /** Everything bound, as one object: what a bare `@` yields. */
  snapshot(): JsonObject;
  readonly environment: Environment;
}

/** Every effect an expression may have is passed in. */
export interface Environment {
  now(): Date;
  /** In [0, 1). */
  random(): number;
  /** Addresses of a host name, for `is_external_url`; undefined when it cannot be resolved here. */
  resolveHost?(host: string): readonly string[] | undefined;
  /** How images without a registry are read; Docker Hub's when absent. */
  readonly imageDefaults?: ImageDefaults | undefined;
  /** Looks on when an explanation was asked for; absent otherwise, and then nothing is spent on it. */
  readonly observer?: Observer | undefined;
}

export interface ImageDefaults {
  readonly defaultRegistry: string;
  /** Whether references without a registry get it; when not, they stay short. */
  readonly enableDefaultRegistryMutation: boolean;
}

/** Told what is decided on the way. */
export interface Observer {
  /** `text` yielded `value`. */
  variable(text: string, value: Json): void;
  /** An anchor as written was tried at a path of the object. `+( )` holds where it writes. */
  anchor(anchor: string, path: Path, held: boolean): void;
}

/** Raised while evaluating policy content; the engine turns it into a failed outcome. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
  readonly code: ErrorCode;
  /** Where in the rule the text stands that failed, when it is known better than by the stage. */
  readonly place: Path | undefined;
  constructor(code: ErrorCode, message: string, options?: EvaluationErrorOptions) {
    super(message, options);
    this.code = code;
    this.place = options?.place;
  }
}

export interface EvaluationErrorOptions extends ErrorOptions {
  readonly place?: Path | undefined;
}

/**
 * Raised when evaluation needs data that has to be fetched. Evaluation is pure, so whoever catches it
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

/** Evaluates again whenever data has arrived, until none is missing. Evaluation is pure, so repeating it is safe. */
export async function untilReady<T>(evaluate: () => T): Promise<T> {
  for (;;) {
    try {
      return evaluate();
    } catch (error) {
      if (!(error instanceof Suspend)) throw error;
      await error.ready;
    }
  }
}

/** For templates that read nothing: those without variables, of which only `\{{` is taken out. */
export const emptyScope: Scope = {
  lookup: () => undefined,
  snapshot: () => ({}),
  environment: { now: () => new Date(0), random: () => 0 },
};
