import type { ErrorCode } from '../errors.ts';

/** Where in the input an error lies. */
export interface KustomizePlace {
  /** The file, as the user would name it. */
  readonly file?: string | undefined;
  /** The field of that file: `patches[0].target.name`. */
  readonly field?: string | undefined;
  readonly hint?: string | undefined;
}

/** A kustomization that cannot be built; thrown once, nothing is printed then. */
export class KustomizeError extends Error {
  override readonly name = 'KustomizeError';
  readonly code: ErrorCode;
  readonly place: KustomizePlace;
  constructor(code: ErrorCode, message: string, place: KustomizePlace = {}) {
    super(message);
    this.code = code;
    this.place = place;
  }
}

/** Runs `action`; an error of it that names no file or field gets these. */
export function atPlace<T>(place: KustomizePlace, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw withPlace(error, place);
  }
}

export function withPlace(error: unknown, place: KustomizePlace): unknown {
  if (!(error instanceof KustomizeError)) return error;
  return new KustomizeError(error.code, error.message, { ...place, ...error.place });
}
