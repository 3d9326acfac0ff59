import type { Path } from '../../src/json/value.ts';
import type { Problem } from '../../src/problem.ts';
import type { SourceRole } from './workspace.ts';

/** The result of one evaluation. Plain data, because it comes from a worker. */
export interface Evaluation {
  readonly problems: readonly SourceProblem[];
  readonly objects: readonly EvaluatedObject[];
  /** Objects that background rules create, change or delete. */
  readonly background: readonly BackgroundChange[];
  readonly reads: readonly ContextRead[];
  readonly tests: readonly TestFileResult[];
  /** If a kustomization is built. */
  readonly build?: BuildResult | undefined;
  readonly summary: string;
  readonly policyCount: number;
  readonly milliseconds: number;
}

export interface SourceProblem extends Problem {
  readonly role: SourceRole | 'request' | 'mocks';
}

/** What wrote a line: a rule, or a stage of a build. */
export interface WriterName {
  /** `policy › rule`. */
  readonly name: string;
  /** Undefined if it is in no source. */
  readonly at?: SourceLocation | undefined;
}

export interface PolicyLocation {
  readonly role: 'policies';
  readonly file: string;
  /** The first line of the policy's document. */
  readonly line: number;
  readonly path: Path;
}

export interface ObjectLocation {
  readonly role: 'resources';
  readonly file: string;
  readonly line: number;
  readonly path: Path;
}

export interface FileLocation {
  readonly role: 'files';
  readonly file: string;
  readonly line: number;
  readonly path: Path;
}

export type SourceLocation = PolicyLocation | ObjectLocation | FileLocation;

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** Oldest first. */
  readonly writers: readonly WriterName[];
}

export interface EvaluatedObject {
  /** `Pod shop/web`. */
  readonly title: string;
  readonly file: string;
  readonly line: number;
  readonly status: 'changed' | 'unchanged' | 'failed';
  readonly lines: readonly DiffLine[];
  /** A JSON patch, as JSON. */
  readonly patch: string;
  readonly policies: readonly PolicyNode[];
  /** The rules that changed the object, in order. */
  readonly steps: readonly WriterName[];
}

export interface PolicyNode {
  readonly policy: string;
  readonly at: PolicyLocation;
  /** A rule failed, so that none of its changes are kept. */
  readonly dropped: boolean;
  readonly rules: readonly RuleNode[];
}

export interface RuleNode {
  readonly rule: string;
  readonly status: 'applied' | 'unchanged' | 'skipped' | 'failed' | 'ignored';
  readonly message: string;
  readonly at: PolicyLocation;
  readonly reasons: readonly ReasonNode[];
  /** For a generated rule: the rule that it comes from, and its YAML. */
  readonly autogen?: { readonly of: string; readonly yaml: string } | undefined;
}

export interface ReasonNode {
  readonly text: string;
  readonly below: readonly ReasonNode[];
  readonly policyAt?: PolicyLocation | undefined;
  readonly objectAt?: ObjectLocation | undefined;
}

export interface BackgroundChange {
  readonly title: string;
  readonly action: 'create' | 'update' | 'delete';
  /** `policy/rule`. */
  readonly rules: readonly string[];
  readonly lines: readonly DiffLine[];
}

/** The stages of a build. */
export interface BuildResult {
  readonly folder: string;
  /** The folders with a kustomization. */
  readonly folders: readonly string[];
  readonly stages: readonly StageSummary[];
}

export interface StageSummary {
  /** The folder of the kustomization. */
  readonly folder: string;
  /** `patches[0]`, or what a stage of every build does. */
  readonly title: string;
  readonly at?: FileLocation | undefined;
  /** The file that the kustomization names there. */
  readonly source?: FileLocation | undefined;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Resources that another kustomization built. */
  readonly joined: number;
  readonly replacements: number;
}

/** The resources after a stage. */
export interface StageView {
  readonly resources: readonly StageResource[];
  readonly replacements: readonly ShownReplacement[];
}

export interface StageResource {
  readonly title: string;
  readonly status: 'added' | 'changed' | 'removed' | 'joined' | 'same';
  /** Undefined for a resource that the stage does not concern, until it is opened. */
  readonly lines?: readonly DiffLine[] | undefined;
}

export interface ShownReplacement {
  /** `overlays/prod › replacements[0]`. */
  readonly name: string;
  readonly at: FileLocation;
  readonly value: string;
  /** Undefined for a literal value. */
  readonly source?: FieldEnd | undefined;
  readonly targets: readonly FieldEnd[];
}

/** One end of an arrow. */
export interface FieldEnd {
  /** The index in `StageView.resources`. */
  readonly resource: number;
  readonly title: string;
  /** `spec.template.spec.containers[0].image`. */
  readonly path: string;
  /** `delimiter ":", index 1`. */
  readonly options: string;
  /** The line of the shown resource; undefined if a later stage changed or removed the field. */
  readonly line?: number | undefined;
}

/** Something outside of the object that a policy reads. */
export interface ContextRead {
  /** Identifies the read: the key of its mock. */
  readonly key: string;
  readonly type: 'configMap' | 'apiCall' | 'imageRegistry' | 'globalReference' | 'namespaceLabels' | 'object';
  readonly title: string;
  readonly found: boolean;
  readonly error?: string | undefined;
  /** A mock to start from. */
  readonly starter: string;
}

export interface TestFileResult {
  readonly file: string;
  readonly rows: readonly TestRowResult[];
  /** Why the test cannot run. */
  readonly errors: readonly string[];
}

export interface TestRowResult {
  readonly policy: string;
  readonly rule: string;
  readonly resource: string;
  readonly expected: string;
  readonly verdict: 'passed' | 'failed' | 'skipped';
  readonly reason: string;
  /** From the expected object to the actual one. */
  readonly lines: readonly DiffLine[];
}

export interface Position {
  readonly line: number;
  readonly column: number;
}
