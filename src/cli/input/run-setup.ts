import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import { clusterObjects } from '../../offline/cluster-resource.ts';
import { type CannedData, createInputDataSource, notCalledProblem } from '../../offline/data-source.ts';
import { createEvaluator, type Evaluator } from '../../offline/evaluator.ts';
import type { BackgroundInput } from '../../offline/output/background-preview.ts';
import { createValuesLookup } from '../../offline/request-values.ts';
import type { ReadItem } from '../../offline/resource-documents.ts';
import { parseSet, unusedExceptions, unusedValues } from '../../offline/values-document.ts';
import { wantedObjects } from '../../offline/wanted-objects.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import type { LoadResult } from '../../policy/load.ts';
import { inputError, type Problem } from '../../problem.ts';
import { systemEnvironment } from '../../system-environment.ts';
import { commandEnvironment } from '../environment.ts';
import type { Io } from '../io.ts';
import { clusterItems, firstAnswer, openCluster } from './cluster-input.ts';
import { expandInputs, type InputPath } from './input-paths.ts';
import { loadPolicies, loadPolicyInputs, noResource } from './policy-input.ts';
import { makeRepeatable } from './repeatable-input.ts';
import { readUserInfo, readValues } from './request-documents.ts';
import { readObjects, readResources } from './resource-reader.ts';

/** The options that `apply` and `explain` share. */
export interface RunOptions {
  readonly resource: readonly string[];
  /** Objects that policies can read. They are not mutated. */
  readonly otherResources?: readonly string[] | undefined;
  readonly values?: string | undefined;
  readonly set?: readonly string[] | undefined;
  readonly userinfo?: string | undefined;
  readonly exceptions?: readonly string[] | undefined;
  /** A call that is not made fails, instead of returning an empty list with a warning. */
  readonly strict?: boolean | undefined;
  /** Kyverno's exact behaviour where that of CEL policies is deliberately different. */
  readonly strictCompat?: boolean | undefined;
  /** Read context entries from a running cluster, and the objects too when no resource is named. */
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface Run {
  readonly policies: readonly CompiledPolicy[];
  readonly evaluator: Evaluator;
  /** In input order; read lazily. */
  readonly items: AsyncIterable<ReadItem>;
  /** How many input objects stay in memory because policies may read them. */
  readonly kept: number;
  /** Undefined when the size is not known in advance. */
  readonly totalBytes: number | undefined;
  readonly warnings: readonly Problem[];
  /** Warnings that evaluation has caused so far. */
  lateWarnings(): readonly Problem[];
  readonly background: BackgroundInput;
}

export async function setUpRun(
  policyNames: readonly string[],
  options: RunOptions,
  io: Io,
  settings: { readonly explain: boolean; readonly onRead?: ((characters: number) => void) | undefined },
): Promise<Run> {
  refuseSecondStdin([
    ...policyNames,
    ...options.resource,
    ...(options.otherResources ?? []),
    options.values,
    options.userinfo,
    ...(options.exceptions ?? []),
  ]);
  const { strictCompat } = options;
  const loaded = await loadPolicies(policyNames, io, { strictCompat, takesResources: true });
  if (options.resource.length === 0 && options.cluster !== true) throw noResource(loaded.ignored);
  const extra = await loadPolicyInputs(options.exceptions ?? [], io);
  const values = options.values === undefined ? undefined : await readValues(options.values, io);
  const user = options.userinfo === undefined ? undefined : await readUserInfo(options.userinfo, io);
  const exceptions = [...loaded.exceptions, ...extra.exceptions];
  const inputs = await expandInputs(options.resource, io.cwd);
  const others = (await readObjects(options.otherResources ?? [], io)).flatMap(clusterObjects);
  const notCalled = new Set<string>();
  const input = await prepareInput(
    inputs,
    {
      loaded,
      exceptions,
      others,
      canned: {
        namespaces: values?.values.namespaces,
        // With a cluster, lists that are not given come from there.
        strict: options.strict === true || options.cluster === true,
        notCalled: (call) => notCalled.add(call),
      },
      onRead: settings.onRead,
    },
    io,
  );
  const { kept, dataSource } = input;
  const cluster = options.cluster === true ? await openCluster(options, io) : undefined;
  const set = parseSet(options.set ?? []);
  const lookup = createValuesLookup(values?.values, set);
  const common = {
    policies: loaded.policies,
    exceptions,
    dataSource: cluster === undefined ? dataSource : firstAnswer(dataSource, cluster.dataSource),
    user,
  };
  const evaluator = createEvaluator({
    ...common,
    others,
    values: lookup,
    environment: commandEnvironment,
    explain: settings.explain,
  });
  const background: BackgroundInput = {
    ...common,
    environment: systemEnvironment,
    others,
    operationOf: (name) => lookup.forObject(undefined, name).operation ?? 'CREATE',
  };
  const warnings = [
    ...loaded.problems,
    ...extra.problems,
    ...(values?.warnings ?? []),
    ...unusedValues(set, values?.values, loaded.policies),
    ...unusedExceptions(extra.exceptions, loaded.policies),
  ];
  const lateWarnings = () => [...notCalled].map((call) => notCalledProblem(call, callHint));
  const totalBytes = await sizeOf(inputs, io);
  const items =
    cluster === undefined
      ? input.items
      : thenClose(
          options.resource.length > 0
            ? input.items
            : clusterItems(cluster, loaded.policies, options.namespace),
          async () => cluster.close(),
        );
  return {
    policies: loaded.policies,
    evaluator,
    items,
    kept,
    totalBytes,
    warnings,
    lateWarnings,
    background,
  };
}

const callHint =
  'Give the objects with -r or --target-resource, give the context entry a value with --set or --values, or use --cluster. With --strict the rule fails.';

interface Sources {
  readonly loaded: LoadResult;
  readonly exceptions: readonly CompiledException[];
  readonly others: readonly JsonObject[];
  readonly canned: CannedData;
  readonly onRead: ((characters: number) => void) | undefined;
}

/** Objects are read lazily. When policies read other objects of the input, a first pass keeps those that they can read. */
async function prepareInput(
  inputs: readonly InputPath[],
  sources: Sources,
  io: Io,
): Promise<Pick<Run, 'items' | 'kept'> & { dataSource: DataSource }> {
  const { loaded, exceptions, others, canned, onRead } = sources;
  const isWanted = wantedObjects(loaded.policies, exceptions, loaded.globalContext);
  const known = [...loaded.globalContext, ...others];
  if (isWanted === undefined) {
    return {
      items: readResources(inputs, io, onRead),
      dataSource: createInputDataSource(known, systemEnvironment, canned),
      kept: 0,
    };
  }
  const repeatable = await makeRepeatable(inputs, io);
  const kept: JsonObject[] = [];
  for await (const item of readResources(repeatable.inputs, io)) {
    // A copy does not keep the source string alive.
    if ('object' in item && isWanted(item.object)) kept.push(structuredClone(item.object));
  }
  return {
    items: thenClose(readResources(repeatable.inputs, io, onRead), repeatable.close),
    dataSource: createInputDataSource([...known, ...kept], systemEnvironment, canned),
    kept: kept.length,
  };
}

async function* thenClose<T>(items: AsyncIterable<T>, close: () => Promise<void>): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    await close();
  }
}

/** Undefined when one of the inputs is standard input or a pipe. */
async function sizeOf(inputs: readonly InputPath[], io: Io): Promise<number | undefined> {
  let size = 0;
  for (const { file } of inputs) {
    const stats = file === '-' ? undefined : await stat(resolve(io.cwd, file)).catch(() => undefined);
    if (stats === undefined || !stats.isFile()) return undefined;
    size += stats.size;
  }
  return size;
}

function refuseSecondStdin(names: readonly (string | undefined)[]): void {
  if (names.filter((name) => name === '-').length > 1) {
    throw inputError('KYM_USAGE', '`-` (standard input) can be named only once');
  }
}
