/** A named text: one tab of an editor. */
export interface SourceText {
  readonly name: string;
  readonly text: string;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** The request that sends the objects. Lists are separated by commas, labels are lines `key=value`. */
export interface RequestForm {
  readonly operation: Operation;
  readonly username: string;
  readonly groups: string;
  readonly roles: string;
  readonly clusterRoles: string;
  readonly namespaceLabels: string;
  /** YAML; fields that differ from the object are enough. */
  readonly oldObject: string;
}

/** Everything that the page evaluates, and all that a link contains. */
export interface Workspace {
  /** Policies, exceptions and global context entries. */
  readonly policies: readonly SourceText[];
  readonly resources: readonly SourceText[];
  /** Objects that policies can read. They are not mutated. */
  readonly context: readonly SourceText[];
  readonly request: RequestForm;
  /** Answers to what policies read, as YAML, by the key of the read. */
  readonly mocks: Readonly<Record<string, string>>;
  /** A kustomization and its files, named by their paths: `overlays/prod/kustomization.yaml`. */
  readonly files: readonly SourceText[];
  /** The folder that is built: `.` for the top one, empty for the first that no other uses. Undefined if the objects are evaluated instead. */
  readonly folder?: string | undefined;
  /** A test document, and the files that only the test reads. */
  readonly tests: readonly SourceText[];
}

export type SourceRole = 'policies' | 'resources' | 'context' | 'files';

/** The sources that have an editor with tabs. */
export type EditorRole = Exclude<SourceRole, 'context'>;

export const emptyRequest: RequestForm = {
  operation: 'CREATE',
  username: '',
  groups: '',
  roles: '',
  clusterRoles: '',
  namespaceLabels: '',
  oldObject: '',
};

export const emptyWorkspace: Workspace = {
  policies: [],
  resources: [],
  context: [],
  request: emptyRequest,
  mocks: {},
  files: [],
  tests: [],
};

/** A name that no other text of the list has: `policy-2.yaml`. */
export function freeName(name: string, taken: readonly SourceText[]): string {
  const names = new Set(taken.map((source) => source.name));
  if (!names.has(name)) return name;
  const dot = name.lastIndexOf('.');
  const [stem, end] = dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  for (let count = 2; ; count++) {
    const candidate = `${stem}-${count}${end}`;
    if (!names.has(candidate)) return candidate;
  }
}
