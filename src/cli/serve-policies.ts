import type { PolicyProvider, PolicySets, ReadinessCheck } from '../admission/policy-provider.ts';
import { createPolicySets } from '../admission/policy-sets.ts';
import type { CompiledException, CompiledPolicy } from '../policy/compiled.ts';
import type { SourceFile } from '../policy/documents.ts';
import { loadDocuments } from '../policy/load.ts';
import type { Problem } from '../problem.ts';
import type { Log } from '../server/review-log.ts';
import { InputError } from './input-error.ts';
import type { Io } from './io.ts';
import { readPolicyTexts } from './policy-input.ts';
import { formatProblem } from './problem-text.ts';
import { type FileWatch, watchFiles } from './serve-watch.ts';
import { plain } from './style.ts';

export interface FilePolicies extends PolicyProvider {
  stop(): void;
}

export interface FilePoliciesOptions {
  /** Files, folders and globs. */
  readonly names: readonly string[];
  readonly io: Io;
  readonly log: Log;
  readonly interval: number;
}

/** What one file gave when it was last without errors, and what is wrong with it now. */
interface LoadedFile {
  readonly text: string;
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  readonly errors: readonly Problem[];
  /** The policies are those of an earlier text. */
  readonly isOutdated: boolean;
}

/** Policies from files, loaded again when a file changes. A file with errors keeps the last good version of its policies. */
export async function providePoliciesFromFiles(options: FilePoliciesOptions): Promise<FilePolicies> {
  const { names, io, log, interval } = options;
  const listeners = new Set<() => void>();
  let files = loadFiles(new Map(), await readPolicyTexts(names, io), log);
  let sets = setsOf(files, log);
  let unreadable: string | undefined;

  async function reload(): Promise<void> {
    try {
      files = loadFiles(files, await readPolicyTexts(names, io), log);
      unreadable = undefined;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      unreadable = error.message;
      log.error({ problem: unreadable }, 'policies cannot be read; those loaded before stay');
      return;
    }
    sets = setsOf(files, log);
    log.info({ policies: sets.all.policies.length, files: files.size }, 'policies reloaded');
    for (const listener of listeners) listener();
  }
  const watch: FileWatch = await watchFiles(names, io.cwd, reload, interval);

  return {
    current: () => sets,
    readiness: () => ({ ready: true, checks: checksOf(files, sets, unreadable) }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => watch.stop(),
  };
}

function loadFiles(
  before: ReadonlyMap<string, LoadedFile>,
  sources: readonly SourceFile[],
  log: Log,
): ReadonlyMap<string, LoadedFile> {
  return new Map(
    sources.map((source) => {
      const known = before.get(source.file);
      return [source.file, known?.text === source.text ? known : loadFile(source, known, log)];
    }),
  );
}

function loadFile(source: SourceFile, known: LoadedFile | undefined, log: Log): LoadedFile {
  // Decoded texts are stored as UTF-16, and so would be all that is cut out of them: patches would cost twice as much.
  const text = Buffer.from(source.text).toString();
  const { policies, exceptions, problems } = loadDocuments([{ file: source.file, text }]);
  const errors = problems.filter(({ severity }) => severity === 'error');
  for (const problem of problems) {
    const text = formatProblem(problem, plain);
    if (problem.severity === 'error') log.error({ problem: text }, 'policy problem');
    else log.warn({ problem: text }, 'policy problem');
  }
  if (errors.length === 0 || known === undefined)
    return { text: source.text, policies, exceptions, errors, isOutdated: false };
  return { ...known, text: source.text, errors, isOutdated: true };
}

function setsOf(files: ReadonlyMap<string, LoadedFile>, log: Log): PolicySets {
  const policies = new Map<string, CompiledPolicy>();
  const exceptions: CompiledException[] = [];
  for (const [file, loaded] of files) {
    exceptions.push(...loaded.exceptions);
    for (const policy of loaded.policies) {
      const first = policies.get(policy.key);
      if (first === undefined) policies.set(policy.key, policy);
      else log.warn({ policy: policy.key, file, used: first.source.file }, 'a policy is there twice');
    }
  }
  return createPolicySets([...policies.values()], exceptions);
}

function checksOf(
  files: ReadonlyMap<string, LoadedFile>,
  sets: PolicySets,
  unreadable: string | undefined,
): readonly ReadinessCheck[] {
  const checks: ReadinessCheck[] = [
    { name: 'policies', ok: true, detail: `${sets.all.policies.length} loaded from ${files.size} files` },
  ];
  if (unreadable !== undefined) checks.push({ name: 'policy files', ok: false, detail: unreadable });
  for (const [file, { errors, isOutdated }] of files) {
    if (errors.length === 0) continue;
    const kept = isOutdated ? 'the last good version of its policies is in use' : 'left out';
    const texts = errors.map((problem) => formatProblem(problem, plain));
    checks.push({ name: file, ok: false, detail: `${kept}; ${texts.join('; ')}` });
  }
  return checks;
}
