import type { ConversionTarget } from '../../src/convert/types.ts';
import type { Problem } from '../../src/problem.ts';
import type { DiffLine, Position } from './evaluation.ts';

/** Plain data, because it comes from a worker. */
export interface ConvertRequest {
  /** The name of a policy file. */
  readonly file: string;
  readonly to: ConversionTarget;
  /** The new policies as the user changed them. */
  readonly edited?: string | undefined;
}

export interface ConvertedFile {
  /** What `kymera convert` prints. */
  readonly text: string;
  /** How many policies have a converted form. */
  readonly converted: number;
  /** Clauses that cannot be converted. */
  readonly refusals: readonly ClauseNote[];
  /** Clauses whose converted form does something else. */
  readonly differences: readonly ClauseNote[];
  /** Why old and new cannot be compared. */
  readonly obstacle?: string | undefined;
  /** Errors and warnings about the new policies. */
  readonly problems: readonly Problem[];
}

export interface ClauseNote extends Position {
  readonly policy: string;
  readonly rule?: string | undefined;
  readonly path: string;
  readonly reason: string;
}

export interface Comparison {
  readonly isSame: boolean;
  /** From the object to what the old policies make of it. */
  readonly old: readonly DiffLine[];
  readonly converted: readonly DiffLine[];
}

export interface ProofState {
  /** All requests. */
  readonly total: number;
  /** Those of the objects of the page. */
  readonly own: number;
  readonly compared: number;
  /** Requests that the old policies changed. */
  readonly changed: number;
  /** Requests after which the old policies changed existing objects. Undefined if they never do. */
  readonly existing?: number | undefined;
  readonly difference?: FoundDifference | undefined;
}

/** The first request on which old and new differ. */
export interface FoundDifference {
  /** `CREATE by alice, generated: …`. */
  readonly request: string;
  readonly message: string;
  readonly rule?: string | undefined;
  /** The clause of the new policy. */
  readonly clause?: string | undefined;
  readonly expression?: string | undefined;
  /** The object of the request, as YAML. */
  readonly object: string;
  /** From the old result to the new one. */
  readonly lines: readonly DiffLine[];
}
