import type { Path } from '../../src/json/value.ts';
import type { Comparison, ConvertedFile, ConvertRequest, ProofState } from './conversion.ts';
import type { DiffLine, Evaluation, Position, StageView } from './evaluation.ts';
import type { FunctionReference } from './functions.ts';
import type { SourceText, Workspace } from './workspace.ts';

/** The jobs of the worker, with their results. */
export interface Jobs {
  evaluate: { readonly input: Workspace; readonly output: Evaluation };
  /** The lines of an object of the last evaluation after its first rules. */
  step: {
    readonly input: { readonly object: number; readonly count: number };
    readonly output: readonly DiffLine[];
  };
  /** What `kymera apply -o yaml`, or `kymera build`, prints for the last evaluation. */
  output: { readonly input: undefined; readonly output: string };
  /** The resources after a stage of the last build. */
  stage: { readonly input: number; readonly output: StageView };
  /** The lines of one of them. */
  stageLines: {
    readonly input: { readonly stage: number; readonly resource: number };
    readonly output: readonly DiffLine[];
  };
  /** The workspace with a test of its current results. */
  saveTest: { readonly input: Workspace; readonly output: Workspace };
  /** The workspace of a folder with a test. */
  openTest: { readonly input: readonly SourceText[]; readonly output: Workspace };
  /** Converts a policy file of the last evaluation. */
  convert: { readonly input: ConvertRequest; readonly output: ConvertedFile };
  /** What the old and the new policies of the last conversion do to an object of the page. */
  compare: { readonly input: number; readonly output: Comparison | undefined };
  /** Compares them on the next requests. The result is that of all requests up to them. */
  prove: { readonly input: undefined; readonly output: ProofState };
  functions: { readonly input: undefined; readonly output: readonly FunctionReference[] };
  locate: {
    readonly input: { readonly source: SourceText; readonly line: number; readonly path: Path };
    readonly output: Position;
  };
}

export type JobName = keyof Jobs;

export type JobRequest = {
  [Name in JobName]: { readonly id: number; readonly job: Name; readonly input: Jobs[Name]['input'] };
}[JobName];

export type JobReply =
  /** The first message of a worker: it is loaded. */
  | { readonly ready: true }
  | { readonly id: number; readonly output: Jobs[JobName]['output'] }
  | { readonly id: number; readonly error: string };
