import type { RequestUser } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { IgnoredDocument, LoadResult } from '../../policy/load.ts';
import type { Problem } from '../../problem.ts';
import { clusterObjects } from '../cluster-resource.ts';
import { createInputDataSource, notCalledProblem } from '../data-source.ts';
import { createEvaluator, type Evaluator } from '../evaluator.ts';
import { createValuesLookup, type ValuesLookup } from '../request-values.ts';
import type { Resource } from '../resource-documents.ts';
import { resourceRole } from '../resource-role.ts';
import { parseUserInfo } from '../user-info.ts';
import { parseValues, type ValuesDocument } from '../values-document.ts';
import type { BackgroundSetup } from './background.ts';
import type { TestDocument } from './document.ts';
import { pathNear } from './paths.ts';

export interface TestSetup {
  readonly policies: readonly CompiledPolicy[];
  /** Documents in policy files that are not policies of this program. */
  readonly ignored: readonly IgnoredDocument[];
  readonly resources: readonly Resource[];
  readonly warnings: readonly Problem[];
  /** Adds a warning, unless it is known. */
  warn(problem: Problem): void;
  /** The input of mutate existing and generate rules. */
  readonly background: BackgroundSetup;
}

/** Reads the files that a test names. Throws InputError. */
export interface TestFiles {
  policies(paths: readonly string[]): Promise<LoadResult>;
  exceptions(paths: readonly string[]): Promise<LoadResult>;
  resources(paths: readonly string[], warnings: Problem[]): Promise<Resource[]>;
  /** The only document of a file. */
  document(path: string): Promise<JsonObject>;
}

const callHint =
  'Give the objects under resources, or the answer under apiCallResponses. With --strict the rule fails.';

/** Loads the files of a test document. Paths are relative to its folder. Throws InputError. */
export async function setUpTest(
  test: TestDocument,
  files: TestFiles,
  environment: Environment,
  { strict }: { readonly strict?: boolean | undefined } = {},
): Promise<TestSetup & { evaluator: Evaluator; values: ValuesLookup }> {
  const near = (path: string) => pathNear(test.file, path);
  const loaded = await files.policies(test.policies.map(near));
  const extra = await files.exceptions(test.exceptions.map(near));
  const warnings: Problem[] = [...loaded.problems, ...extra.problems];
  const resources = await files.resources(test.resources.map(near), warnings);
  const others = await files.resources(test.otherResources.map(near), warnings);
  const values = await valuesOf(test, files, warnings);
  const warn = (problem: Problem): void => {
    const isSame = ({ message, policy, rule }: Problem) =>
      message === problem.message && policy === problem.policy && rule === problem.rule;
    if (!warnings.some(isSame)) warnings.push(problem);
  };
  const user = await userOf(test, files);
  const objects = [...resources, ...others].flatMap((resource) => clusterObjects(resource.object));
  const exceptions = [...loaded.exceptions, ...extra.exceptions];
  const dataSource = createInputDataSource([...loaded.globalContext, ...objects], environment, {
    namespaces: values?.namespaces ?? new Map(),
    apiCalls: test.apiCalls,
    globalReferences: test.globalReferences,
    images: test.images,
    strict,
    notCalled: (call) => warn({ ...notCalledProblem(call, callHint), file: test.file }),
  });
  const lookup = createValuesLookup(values);
  const evaluator = createEvaluator({
    policies: loaded.policies,
    exceptions,
    values: lookup,
    dataSource,
    environment,
    explain: true,
    steps: true,
    others: objects,
    user,
  });
  return {
    policies: loaded.policies,
    ignored: loaded.ignored,
    resources: resources.filter((resource) => resourceRole(resource.object) === 'resource'),
    warnings,
    warn,
    evaluator,
    values: lookup,
    background: { exceptions, dataSource, environment, objects, user },
  };
}

async function valuesOf(
  test: TestDocument,
  files: TestFiles,
  warnings: Problem[],
): Promise<ValuesDocument | undefined> {
  if (test.values !== undefined) {
    return parseValues({ ...test.values, apiVersion: 'cli.kyverno.io/v1alpha1', kind: 'Values' }, test.file)
      .values;
  }
  if (test.valuesFile === undefined) return undefined;
  const path = pathNear(test.file, test.valuesFile);
  const read = parseValues(await files.document(path), path);
  warnings.push(...read.warnings);
  return read.values;
}

async function userOf(test: TestDocument, files: TestFiles): Promise<RequestUser | undefined> {
  if (test.userInfoFile === undefined) return undefined;
  const path = pathNear(test.file, test.userInfoFile);
  return parseUserInfo(await files.document(path), path);
}
