import type { Outcome } from '../../src/engine/outcome.ts';
import { diff } from '../../src/json/diff/diff.ts';
import { stringifyJson } from '../../src/json/json-text.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { createInputDataSource } from '../../src/offline/data-source.ts';
import { createEvaluator, type Evaluated, type EvaluatorOptions } from '../../src/offline/evaluator.ts';
import { titleOf } from '../../src/offline/object-identity.ts';
import {
  type AppliedObject,
  countObject,
  countStep,
  createFormatter,
  noCounts,
  summaryOf,
} from '../../src/offline/output/apply-formats.ts';
import { previewBackground, withBackgroundChanges } from '../../src/offline/output/background-preview.ts';
import { plain } from '../../src/offline/output/paint.ts';
import { createValuesLookup } from '../../src/offline/request-values.ts';
import type { Resource } from '../../src/offline/resource-documents.ts';
import { resourceRole } from '../../src/offline/resource-role.ts';
import { readResourceText } from '../../src/offline/resource-text.ts';
import { parseUserInfo } from '../../src/offline/user-info.ts';
import { parseValues } from '../../src/offline/values-document.ts';
import type { CompiledPolicy } from '../../src/policy/compiled.ts';
import type { LoadResult } from '../../src/policy/load.ts';
import { InputError } from '../../src/problem.ts';
import { backgroundChange } from './background.ts';
import { diffLines } from './diff-lines.ts';
import { pageEnvironment } from './environment.ts';
import type { DiffLine, EvaluatedObject, Evaluation, SourceProblem, StageView } from './evaluation.ts';
import { policyNodes, writerName } from './explain.ts';
import type { WorkspaceBuild } from './kustomize/workspace-build.ts';
import { createPolicyLoader } from './load-policies.ts';
import { parseMocks, recordReads } from './reads.ts';
import { requestDocuments } from './request-documents.ts';
import { runTests } from './run-tests.ts';
import { chunksOf } from './test-files.ts';
import type { RequestForm, SourceRole, SourceText, Workspace } from './workspace.ts';

/** Evaluates workspaces. Keeps compiled policies, so that typing into an object does not compile them again. */
export interface WorkspaceEvaluator {
  evaluate(workspace: Workspace): Promise<Evaluation>;
  /** The lines of an object of the last evaluation after its first `count` applied rules. */
  linesAfter(object: number, count: number): EvaluatedObject['lines'];
  /** The resources after a stage of the last build. */
  stage(index: number): StageView;
  stageLines(index: number, resource: number): readonly DiffLine[];
  /** What `kymera apply -o yaml`, or `kymera build`, prints for the last evaluation. Not part of each evaluation, because keeping comments takes time. */
  output(): string;
  /** What the last evaluation read. */
  last(): EvaluationInput | undefined;
}

export interface EvaluationInput {
  readonly policies: readonly SourceText[];
  /** In the order of the policies. */
  readonly loads: readonly LoadResult[];
  readonly setup: EvaluatorOptions;
  /** The objects on which policies run. */
  readonly resources: readonly Resource[];
}

interface Kept {
  readonly resource: Resource;
  readonly evaluated: Evaluated;
}

export function createWorkspaceEvaluator(now: () => number): WorkspaceEvaluator {
  const load = createPolicyLoader();
  let kept: readonly Kept[] = [];
  let printed: readonly AppliedObject[] = [];
  let build: WorkspaceBuild | undefined;
  let input: EvaluationInput | undefined;

  async function evaluate(workspace: Workspace): Promise<Evaluation> {
    const startedAt = now();
    const loads = await load(workspace.policies);
    const policies = loads.flatMap((loaded) => loaded.policies);
    const problems: SourceProblem[] = loads.flatMap((loaded) => withRole(loaded.problems, 'policies'));
    build = await kustomizeBuild(workspace, problems);
    const resources = build?.resources ?? (await readSources(workspace.resources, 'resources', problems));
    const others = await readSources(workspace.context, 'context', problems);
    const setup = setUp(workspace, loads, resources, others, problems);
    const results = await run(setup, resources, policies);
    kept = results.kept;
    printed = results.printed;
    input = {
      policies: workspace.policies,
      loads,
      setup,
      resources: kept.map(({ resource }) => resource),
    };
    const buildResult = build?.finish(kept, policies.length > 0);
    problems.push(...(buildResult?.problems ?? []));
    return {
      problems,
      ...results.shown,
      ...(build === undefined || policies.length > 0 ? {} : { summary: resourceCount(resources.length) }),
      reads: setup.reads(),
      tests: await runTests(workspace),
      build: buildResult?.result,
      policyCount: policies.length,
      milliseconds: now() - startedAt,
    };
  }

  return {
    evaluate,
    last: () => input,
    linesAfter(object, count) {
      const one = kept[object];
      if (one === undefined) return [];
      const outcomes = appliedOutcomes(one.evaluated).slice(0, count);
      const last = outcomes.at(-1);
      const after = last === undefined ? one.evaluated.before : last.after;
      return diffLines(one.resource, { ...one.evaluated, outcomes, after });
    },
    stage: (index) => build?.stages?.view(index) ?? { resources: [], replacements: [] },
    stageLines: (index, resource) => build?.stages?.linesOf(index, resource) ?? [],
    output() {
      if (build !== undefined) return build.output();
      const formatter = createFormatter('yaml', plain, {});
      return printed.map((applied) => formatter.object(applied)).join('') + formatter.end();
    },
  };
}

function resourceCount(count: number): string {
  return count === 1 ? '1 resource' : `${count} resources`;
}

/** The builder is loaded for the first kustomization. */
async function kustomizeBuild(
  { files, folder }: Workspace,
  problems: SourceProblem[],
): Promise<WorkspaceBuild | undefined> {
  if (folder === undefined) return undefined;
  const { buildWorkspace } = await import('./kustomize/workspace-build.ts');
  return buildWorkspace(files, folder, problems);
}

async function readSources(
  sources: readonly SourceText[],
  role: SourceRole,
  problems: SourceProblem[],
): Promise<Resource[]> {
  const resources: Resource[] = [];
  for (const { name, text } of sources) {
    for await (const item of readResourceText(chunksOf(text), name, false)) {
      if ('object' in item) resources.push(item);
      else problems.push({ ...item.problem, role });
    }
  }
  return resources;
}

function withRole(problems: LoadResult['problems'], role: SourceRole): SourceProblem[] {
  return problems.map((problem) => ({ ...problem, role }));
}

interface Setup extends EvaluatorOptions {
  readonly others: readonly JsonObject[];
  reads(): Evaluation['reads'];
}

function setUp(
  workspace: Workspace,
  loads: readonly LoadResult[],
  resources: readonly Resource[],
  others: readonly Resource[],
  problems: SourceProblem[],
): Setup {
  const mocks = parseMocks(workspace.mocks);
  problems.push(...mocks.problems);
  const objects = resources.map(({ object }) => object);
  const request = readRequest(workspace.request, objects, problems);
  const known = [...mocks.objects, ...others.map(({ object }) => object)];
  const recorder = recordReads(
    createInputDataSource(
      [...loads.flatMap(({ globalContext }) => globalContext), ...known, ...objects],
      pageEnvironment,
      { ...mocks.canned, namespaces: request.values?.namespaces },
    ),
  );
  return {
    policies: loads.flatMap((loaded) => loaded.policies),
    exceptions: loads.flatMap((loaded) => loaded.exceptions),
    values: createValuesLookup(request.values),
    user: request.user,
    dataSource: recorder.source,
    environment: pageEnvironment,
    explain: true,
    others: known,
    reads: recorder.reads,
  };
}

function readRequest(form: RequestForm, objects: readonly JsonObject[], problems: SourceProblem[]) {
  try {
    const { values, userInfo } = requestDocuments(form, objects);
    return {
      values: values === undefined ? undefined : parseValues(values, 'request').values,
      user: userInfo === undefined ? undefined : parseUserInfo(userInfo, 'request'),
    };
  } catch (error) {
    const found =
      error instanceof InputError
        ? error.problems
        : [
            {
              code: 'KYM_VALUES_INVALID',
              severity: 'error',
              message: messageOf(error),
              pointer: '',
            } as const,
          ];
    problems.push(...found.map((problem) => ({ ...problem, file: 'request', role: 'request' as const })));
    return { values: undefined, user: undefined };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Evaluates the objects in order, as `kymera apply` does. */
async function run(setup: Setup, resources: readonly Resource[], policies: readonly CompiledPolicy[]) {
  const evaluator = createEvaluator(setup);
  const counts = noCounts();
  const held: AppliedObject[] = [];
  const background = previewBackground({
    ...setup,
    operationOf: (name) => setup.values.forObject(undefined, name).operation ?? 'CREATE',
  });
  for (const resource of resources) {
    const role = resourceRole(resource.object);
    if (role === 'tooling') continue;
    const evaluated = role === 'policy' ? undefined : await evaluator.evaluate(resource.object);
    held.push({ resource, evaluated });
    if (evaluated !== undefined) background?.admitted(evaluated.after);
  }
  const { changes = [], steps = [] } = (await background?.finish()) ?? {};
  const printed = withBackgroundChanges(held, changes);
  for (const applied of printed) countObject(applied, counts);
  for (const step of steps) countStep(step, counts);
  const kept = held.flatMap(({ resource, evaluated }) =>
    evaluated === undefined ? [] : [{ resource, evaluated }],
  );
  return {
    kept,
    printed,
    shown: {
      objects: kept.map(({ resource, evaluated }) => showObject(resource, evaluated, policies)),
      background: changes.map(backgroundChange),
      summary: summaryOf(counts),
    },
  };
}

function showObject(
  resource: Resource,
  evaluated: Evaluated,
  policies: readonly CompiledPolicy[],
): EvaluatedObject {
  const { before, after, failedPolicies } = evaluated;
  return {
    title: titleOf(resource.object),
    file: resource.file,
    line: resource.line,
    status: failedPolicies.length > 0 ? 'failed' : after === before ? 'unchanged' : 'changed',
    lines: diffLines(resource, evaluated),
    patch: stringifyJson(diff(before, after), 2),
    policies: policyNodes(policies, resource, evaluated),
    steps: appliedOutcomes(evaluated).map(writerName),
  };
}

/** The outcomes whose changes are kept. */
function appliedOutcomes({ outcomes, failedPolicies }: Evaluated): Extract<Outcome, { status: 'applied' }>[] {
  return outcomes.flatMap((outcome) =>
    outcome.status === 'applied' && !failedPolicies.includes(outcome.policy) ? [outcome] : [],
  );
}
