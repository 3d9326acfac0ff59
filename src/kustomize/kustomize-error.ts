import type { ErrorCode } from '../errors.ts';

/** The location of an error in the input. */
export interface KustomizeLocation {
  /** The file path for messages. */
  readonly file?: string | undefined;
  /** The field of that file: `patches[0].target.name`. */
  readonly field?: string | undefined;
  /** 1-based. */
  readonly line?: number | undefined;
  readonly sourceLine?: string | undefined;
  readonly hint?: string | undefined;
}

/** A build error. The build stops and prints no resources. */
export class KustomizeError extends Error {
  override readonly name = 'KustomizeError';
  readonly code: ErrorCode;
  readonly place: KustomizeLocation;
  constructor(code: ErrorCode, message: string, place: KustomizeLocation = {}) {
    super(message);
    this.code = code;
    this.place = place;
  }
}

/** Runs `action` and adds this location to its errors, unless they have one. */
export function atLocation<T>(place: KustomizeLocation, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw withLocation(error, place);
  }
}

export function withLocation(error: unknown, place: KustomizeLocation): unknown {
  if (!(error instanceof KustomizeError)) return error;
  return new KustomizeError(error.code, error.message, { ...place, ...error.place });
}
