import type { PolicyProvider, PolicySets, ReadinessCheck } from '../../admission/policy-provider.ts';
import { createPolicySets } from '../../admission/policy-sets.ts';
import { hasOwnEntry, pathGroupOf } from '../../cluster/policies/grouping.ts';
import { plain } from '../../offline/output/paint.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import { InputError } from '../../problem.ts';
import type { Log } from '../../server/log.ts';
import { formatProblem } from '../problem-text.ts';
import { type LoadedFiles, type LoadFilesOptions, loadPolicyFiles } from './policy-files.ts';
import { type FileWatch, watchFiles } from './watch.ts';

export interface FilePolicies extends PolicyProvider {
  stop(): void;
}

export interface FilePoliciesOptions extends LoadFilesOptions {
  /** Files, folders and globs. */
  readonly names: readonly string[];
  readonly interval: number;
}

/** Provides policies from files and reloads changed files. A file with errors keeps its last valid policies. */
export async function providePoliciesFromFiles(options: FilePoliciesOptions): Promise<FilePolicies> {
  const { names, io, log, limits, interval } = options;
  const listeners = new Set<() => void>();
  let files = await loadPolicyFiles(names, new Map(), { io, log, limits });
  let sets = setsOf(files, log);
  let unreadable: string | undefined;

  async function reload(): Promise<void> {
    try {
      files = await loadPolicyFiles(names, files, { io, log, limits });
      unreadable = undefined;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      unreadable = error.message;
      log.error({ problem: unreadable }, 'policies cannot be read; the previous policies are kept');
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

function setsOf(files: LoadedFiles, log: Log): PolicySets {
  const policies = new Map<string, CompiledPolicy>();
  const exceptions: CompiledException[] = [];
  for (const [file, loaded] of files) {
    exceptions.push(...loaded.exceptions);
    for (const policy of loaded.policies) {
      const first = policies.get(policyId(policy));
      if (first === undefined) policies.set(policyId(policy), policy);
      else log.warn({ policy: policy.key, file, used: first.source.file }, 'duplicate policy');
    }
  }
  return createPolicySets([...policies.values()], exceptions, {
    groupOf: pathGroupOf,
    hasOwnPath: hasOwnEntry,
  });
}

function checksOf(
  files: LoadedFiles,
  sets: PolicySets,
  unreadable: string | undefined,
): readonly ReadinessCheck[] {
  const checks: ReadinessCheck[] = [
    { name: 'policies', ok: true, detail: `${sets.all.policies.length} loaded from ${files.size} files` },
  ];
  if (unreadable !== undefined) checks.push({ name: 'policy files', ok: false, detail: unreadable });
  for (const [file, { errors, isOutdated }] of files) {
    if (errors.length === 0) continue;
    const kept = isOutdated ? 'its last valid policies are in use' : 'not loaded';
    const texts = errors.map((problem) => formatProblem(problem, plain));
    checks.push({ name: file, ok: false, detail: `${kept}; ${texts.join('; ')}` });
  }
  return checks;
}
