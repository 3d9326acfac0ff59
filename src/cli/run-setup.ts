import type { DataSource } from '../engine/data-source.ts';
import type {
  CompiledContextEntry,
  CompiledForeach,
  CompiledPolicy,
  CompiledRule,
} from '../policy/compiled.ts';
import type { LoadResult } from '../policy/load.ts';
import type { Problem } from '../problem.ts';
import { createEvaluator, type Evaluator } from './evaluator.ts';
import { createInputDataSource } from './input-data-source.ts';
import { inputError } from './input-error.ts';
import { expandInputs } from './input-paths.ts';
import type { Io } from './io.ts';
import { loadPolicies, loadPolicyInputs } from './policy-input.ts';
import { readUserInfo, readValues } from './request-documents.ts';
import { createValuesLookup } from './request-values.ts';
import { type ReadItem, readResources } from './resource-reader.ts';
import { parseSet, type ValuesDocument } from './values-document.ts';

/** What `apply` and `explain` are told on the command line. */
export interface RunOptions {
  readonly resource: readonly string[];
  readonly values?: string;
  readonly set?: readonly string[];
  readonly userinfo?: string;
  readonly exceptions?: readonly string[];
}

export interface Run {
  readonly policies: readonly CompiledPolicy[];
  readonly evaluator: Evaluator;
  /** In input order; each is read when it is asked for, unless a policy reads other input objects. */
  readonly items: AsyncIterable<ReadItem>;
  readonly warnings: readonly Problem[];
}

export async function setUpRun(
  policyNames: readonly string[],
  options: RunOptions,
  io: Io,
  settings: { readonly explain: boolean },
): Promise<Run> {
  refuseSecondStdin([
    ...policyNames,
    ...options.resource,
    options.values,
    options.userinfo,
    ...(options.exceptions ?? []),
  ]);
  const loaded = await loadPolicies(policyNames, io);
  const extra = await loadPolicyInputs(options.exceptions ?? [], io);
  const values = options.values === undefined ? undefined : await readValues(options.values, io);
  const user = options.userinfo === undefined ? undefined : await readUserInfo(options.userinfo, io);
  const inputs = await expandInputs(options.resource, io.cwd);
  const stream = readResources(inputs, io);
  const { items, dataSource } = await prepareInput(stream, loaded, values?.values);
  const evaluator = createEvaluator({
    policies: loaded.policies,
    exceptions: [...loaded.exceptions, ...extra.exceptions],
    values: createValuesLookup(values?.values, parseSet(options.set ?? [])),
    dataSource,
    explain: settings.explain,
    ...(user === undefined ? {} : { user }),
  });
  const warnings = [...loaded.problems, ...extra.problems, ...(values?.warnings ?? [])];
  return { policies: loaded.policies, evaluator, items, warnings };
}

async function prepareInput(
  stream: AsyncGenerator<ReadItem>,
  loaded: LoadResult,
  values: ValuesDocument | undefined,
): Promise<{ items: AsyncIterable<ReadItem>; dataSource: DataSource }> {
  const canned = values === undefined ? {} : { namespaces: values.namespaces };
  if (!loaded.policies.some(readsOtherObjects)) {
    return { items: stream, dataSource: createInputDataSource(loaded.globalContext, canned) };
  }
  const items: ReadItem[] = [];
  for await (const item of stream) items.push(item);
  const objects = items.flatMap((item) => ('object' in item ? [item.object] : []));
  return {
    items: toAsync(items),
    dataSource: createInputDataSource([...loaded.globalContext, ...objects], canned),
  };
}

async function* toAsync<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Whether a policy may ask for objects beside the one it mutates: then all input is read first. */
function readsOtherObjects(policy: CompiledPolicy): boolean {
  return policy.rules.some((rule) => {
    const blocks = [rule.match, ...(rule.exclude === undefined ? [] : [rule.exclude])].flatMap(
      (filter) => filter.any ?? filter.all ?? [],
    );
    return (
      rule.mutation.type === 'replacements' ||
      contextOf(rule).some((entry) => entry.type !== 'variable') ||
      blocks.some((block) => block.namespaceSelector !== undefined)
    );
  });
}

function contextOf(rule: CompiledRule): readonly CompiledContextEntry[] {
  const inner = rule.mutation.type === 'foreach' ? rule.mutation.entries.flatMap(contextOfForeach) : [];
  return [...rule.context, ...inner];
}

function contextOfForeach(entry: CompiledForeach): readonly CompiledContextEntry[] {
  const inner = entry.body.type === 'foreach' ? entry.body.entries.flatMap(contextOfForeach) : [];
  return [...entry.context, ...inner];
}

function refuseSecondStdin(names: readonly (string | undefined)[]): void {
  if (names.filter((name) => name === '-').length > 1) {
    throw inputError('KYM_USAGE', '`-` (standard input) can be named only once');
  }
}
