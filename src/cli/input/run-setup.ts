import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import { type CannedData, createInputDataSource } from '../../offline/data-source.ts';
import { createEvaluator, type Evaluator } from '../../offline/evaluator.ts';
import { createValuesLookup } from '../../offline/request-values.ts';
import { parseSet } from '../../offline/values-document.ts';
import { wantedObjects } from '../../offline/wanted-objects.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import type { LoadResult } from '../../policy/load.ts';
import { InputError, inputError, type Problem } from '../../problem.ts';
import type { BackgroundSurroundings } from '../apply/background-preview.ts';
import type { Io } from '../io.ts';
import { clusterItems, firstAnswer, openCluster } from './cluster-input.ts';
import { expandInputs, type InputPath } from './input-paths.ts';
import { loadPolicies, loadPolicyInputs } from './policy-input.ts';
import { makeRepeatable } from './repeatable-input.ts';
import { readUserInfo, readValues } from './request-documents.ts';
import { type ReadItem, readResources } from './resource-reader.ts';

/** What `apply` and `explain` are told on the command line. */
export interface RunOptions {
  readonly resource: readonly string[];
  /** Objects that are only read. */
  readonly otherResources?: readonly string[] | undefined;
  readonly values?: string | undefined;
  readonly set?: readonly string[] | undefined;
  readonly userinfo?: string | undefined;
  readonly exceptions?: readonly string[] | undefined;
  /** Read a running cluster: context entries, and objects where no resource is named. */
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface Run {
  readonly policies: readonly CompiledPolicy[];
  readonly evaluator: Evaluator;
  /** In input order; each is read when it is asked for. */
  readonly items: AsyncIterable<ReadItem>;
  /** How many objects of the input are kept because policies may ask for them. */
  readonly kept: number;
  /** Undefined when it is not known beforehand. */
  readonly totalBytes: number | undefined;
  readonly warnings: readonly Problem[];
  /** What a preview of background rules needs. */
  readonly surroundings: BackgroundSurroundings;
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
  const loaded = await loadPolicies(policyNames, io);
  const extra = await loadPolicyInputs(options.exceptions ?? [], io);
  const values = options.values === undefined ? undefined : await readValues(options.values, io);
  const user = options.userinfo === undefined ? undefined : await readUserInfo(options.userinfo, io);
  const exceptions = [...loaded.exceptions, ...extra.exceptions];
  const inputs = await expandInputs(options.resource, io.cwd);
  const others = await readObjects(options.otherResources ?? [], io);
  const input = await prepareInput(
    inputs,
    {
      loaded,
      exceptions,
      others,
      canned: values === undefined ? {} : { namespaces: values.values.namespaces },
      onRead: settings.onRead,
    },
    io,
  );
  const { kept, dataSource } = input;
  const cluster = options.cluster === true ? await openCluster(options, io) : undefined;
  const lookup = createValuesLookup(values?.values, parseSet(options.set ?? []));
  const common = {
    policies: loaded.policies,
    exceptions,
    dataSource: cluster === undefined ? dataSource : firstAnswer(dataSource, cluster.dataSource),
    user,
  };
  const evaluator = createEvaluator({ ...common, values: lookup, explain: settings.explain });
  const surroundings: BackgroundSurroundings = {
    ...common,
    others,
    operationOf: (name) => lookup.forObject(undefined, name).operation ?? 'CREATE',
  };
  const warnings = [...loaded.problems, ...extra.problems, ...(values?.warnings ?? [])];
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
  return { policies: loaded.policies, evaluator, items, kept, totalBytes, warnings, surroundings };
}

interface Sources {
  readonly loaded: LoadResult;
  readonly exceptions: readonly CompiledException[];
  readonly others: readonly JsonObject[];
  readonly canned: CannedData;
  readonly onRead: ((characters: number) => void) | undefined;
}

async function readObjects(names: readonly string[], io: Io): Promise<JsonObject[]> {
  const objects: JsonObject[] = [];
  const errors: Problem[] = [];
  for await (const item of readResources(await expandInputs(names, io.cwd), io)) {
    if ('object' in item) objects.push(item.object);
    else if (item.problem.severity === 'error') errors.push(item.problem);
  }
  if (errors.length > 0) throw new InputError(errors);
  return objects;
}

/**
 * Objects are read when they are asked for. Where policies read other objects of the input, a first pass keeps those that they can
 * ask for.
 */
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
      dataSource: createInputDataSource(known, canned),
      kept: 0,
    };
  }
  const repeatable = await makeRepeatable(inputs, io);
  const kept: JsonObject[] = [];
  for await (const item of readResources(repeatable.inputs, io)) {
    // A copy holds on to nothing of the text that the object was read from.
    if ('object' in item && isWanted(item.object)) kept.push(structuredClone(item.object));
  }
  return {
    items: thenClose(readResources(repeatable.inputs, io, onRead), repeatable.close),
    dataSource: createInputDataSource([...known, ...kept], canned),
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

/** Undefined where standard input or a pipe is among the inputs. */
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
