import { dirname, join } from 'node:path';
import type { JsonObject } from '../../json/value.ts';
import { clusterObjects } from '../../offline/cluster-resource.ts';
import { createInputDataSource } from '../../offline/data-source.ts';
import { createEvaluator, type Evaluator } from '../../offline/evaluator.ts';
import { createValuesLookup } from '../../offline/request-values.ts';
import type { Resource } from '../../offline/resource-documents.ts';
import { resourceRole } from '../../offline/resource-role.ts';
import { parseValues, type ValuesDocument } from '../../offline/values-document.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { IgnoredDocument } from '../../policy/load.ts';
import { InputError, type Problem } from '../../problem.ts';
import { systemEnvironment } from '../../system-environment.ts';
import { commandEnvironment } from '../environment.ts';
import { expandInputs } from '../input/input-paths.ts';
import { loadPolicyInputs, type PolicyInputOptions } from '../input/policy-input.ts';
import { readUserInfo, readValues } from '../input/request-documents.ts';
import { readResources } from '../input/resource-reader.ts';
import type { Io } from '../io.ts';
import type { BackgroundSetup } from './background.ts';
import type { TestDocument } from './document.ts';

export interface TestSetup {
  readonly policies: readonly CompiledPolicy[];
  /** Documents in policy files that are not policies of this program. */
  readonly ignored: readonly IgnoredDocument[];
  readonly resources: readonly Resource[];
  readonly warnings: readonly Problem[];
  /** The input of mutate existing and generate rules. */
  readonly background: BackgroundSetup;
}

/** Loads the files of a test document. Paths are relative to its folder. Throws InputError. */
export async function setUpTest(
  test: TestDocument,
  io: Io,
  options: PolicyInputOptions = {},
): Promise<TestSetup & { evaluator: Evaluator }> {
  const near = (path: string) => (path.startsWith('/') ? path : join(dirname(test.file), path));
  const loaded = await loadPolicyInputs(test.policies.map(near), io, options);
  const extra = await loadPolicyInputs(test.exceptions.map(near), io);
  const warnings: Problem[] = [...loaded.problems, ...extra.problems];
  const resources = await readAll(test.resources.map(near), io, warnings);
  const others = await readAll(test.otherResources.map(near), io, warnings);
  const values = await valuesOf(test, near, io, warnings);
  const user = test.userInfoFile === undefined ? undefined : await readUserInfo(near(test.userInfoFile), io);
  const objects = [...resources, ...others].flatMap((resource) => clusterObjects(resource.object));
  const exceptions = [...loaded.exceptions, ...extra.exceptions];
  const dataSource = createInputDataSource([...loaded.globalContext, ...objects], systemEnvironment, {
    namespaces: values?.namespaces ?? new Map(),
    apiCalls: test.apiCalls,
    globalReferences: test.globalReferences,
  });
  const evaluator = createEvaluator({
    policies: loaded.policies,
    exceptions,
    values: createValuesLookup(values),
    dataSource,
    environment: commandEnvironment,
    explain: true,
    steps: true,
    user,
  });
  return {
    policies: loaded.policies,
    ignored: loaded.ignored,
    resources: resources.filter((resource) => resourceRole(resource.object) === 'resource'),
    warnings,
    evaluator,
    background: { exceptions, dataSource, objects, user },
  };
}

async function valuesOf(
  test: TestDocument,
  near: (path: string) => string,
  io: Io,
  warnings: Problem[],
): Promise<ValuesDocument | undefined> {
  if (test.values !== undefined) {
    return parseValues({ ...test.values, apiVersion: 'cli.kyverno.io/v1alpha1', kind: 'Values' }, test.file)
      .values;
  }
  if (test.valuesFile === undefined) return undefined;
  const read = await readValues(near(test.valuesFile), io);
  warnings.push(...read.warnings);
  return read.values;
}

async function readAll(names: readonly string[], io: Io, warnings: Problem[]): Promise<Resource[]> {
  const resources: Resource[] = [];
  const errors: Problem[] = [];
  for await (const item of readResources(await expandInputs(names, io.cwd), io)) {
    if ('object' in item) resources.push(item);
    else if (item.problem.severity === 'error') errors.push(item.problem);
    else warnings.push(item.problem);
  }
  if (errors.length > 0) throw new InputError(errors);
  return resources;
}

/** Reads each file of expected objects once. Undefined for a file that does not exist. */
export function expectedObjectReader(io: Io): (file: string) => Promise<readonly JsonObject[] | undefined> {
  const known = new Map<string, Promise<readonly JsonObject[] | undefined>>();
  return (file) => {
    const objects = known.get(file) ?? readExpected(file, io);
    known.set(file, objects);
    return objects;
  };
}

async function readExpected(file: string, io: Io): Promise<readonly JsonObject[] | undefined> {
  try {
    return (await readAll([file], io, [])).map((resource) => resource.object);
  } catch (error) {
    if (error instanceof InputError && error.problems[0]?.code === 'KYM_INPUT_NOT_FOUND') return undefined;
    throw error;
  }
}
