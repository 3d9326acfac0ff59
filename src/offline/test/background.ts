import type { BackgroundRule } from '../../background/background-rule.ts';
import { labelPrefix } from '../../background/generate/labels.ts';
import { refTitle } from '../../background/object-identity.ts';
import type { ObjectRef, ObjectStore } from '../../background/ports.ts';
import { createExistingRun, type ExistingStep } from '../../background/run/existing-run.ts';
import { createMemoryStore } from '../../background/store/memory-store.ts';
import { createOverlayStore } from '../../background/store/overlay-store.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { RequestUser } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import { setMember } from '../../json/edit.ts';
import { metadataOf } from '../../json/metadata.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import type { CompiledException, CompiledPolicy, Operation } from '../../policy/compiled.ts';
import { withDefaultNamespace } from '../object-identity.ts';
import { stepWarnings } from '../output/planned-changes.ts';
import type { ResourceReference, TestResult } from './document.ts';
import { type Judgement, judgeObject } from './judgement.ts';
import { pathNear } from './paths.ts';
import type { TestContext } from './rows.ts';

export interface BackgroundSetup {
  readonly exceptions: readonly CompiledException[];
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly user?: RequestUser | undefined;
  /** All existing objects: triggers, targets, sources of clones. */
  readonly objects: readonly JsonObject[];
}

interface BackgroundCheck {
  readonly result: TestResult;
  readonly policy: CompiledPolicy;
  readonly rules: readonly BackgroundRule[];
  readonly context: TestContext;
}

type Checked = Judgement & { readonly resource: string };

/** One result of a trigger. */
export interface Consequence {
  readonly step: ExistingStep;
  readonly store: ObjectStore;
  readonly makes: boolean;
}

/**
 * A mutate existing rule is tested by its targets or by a trigger, a generate rule by its triggers. Every resource of the test is a
 * trigger once, and each run starts from the given objects.
 */
export async function checkBackgroundRules(check: BackgroundCheck): Promise<readonly Checked[]> {
  const { result } = check;
  const consequences = await consequencesOf(check);
  consequences.flatMap(({ step }) => stepWarnings(step)).forEach(check.context.warn);
  const wanted: readonly (ResourceReference | undefined)[] =
    result.resources.length === 0 ? [undefined] : result.resources;
  const checked: Checked[] = [];
  for (const reference of wanted) {
    const fitting = consequences.filter((consequence) => isMeant(consequence, reference, result.kind));
    if (fitting.length === 0) {
      const resource = reference === undefined ? '(all)' : titleOfReference(reference, result.kind);
      checked.push({
        resource,
        verdict: 'unverified',
        reason: 'the rule does not select this object as a trigger or target',
      });
    }
    for (const consequence of fitting) checked.push(await judgeConsequence(consequence, check));
  }
  return checked;
}

async function consequencesOf({ result, policy, rules, context }: BackgroundCheck): Promise<Consequence[]> {
  const sources: JsonObject[] = [];
  for (const name of result.cloneSources) {
    sources.push(...((await context.expectedObjects(pathNear(context.test.file, name))) ?? []));
  }
  return backgroundConsequences(policy, rules, context, { operation: result.operation, sources });
}

/** What the rules do for each resource as a trigger. Each run starts from the given objects. */
export async function backgroundConsequences(
  policy: CompiledPolicy,
  rules: readonly BackgroundRule[],
  { background, resources }: Pick<TestContext, 'background' | 'resources'>,
  more: {
    readonly operation?: Operation | undefined;
    readonly sources?: readonly JsonObject[] | undefined;
  } = {},
): Promise<Consequence[]> {
  const { objects, ...setup } = background;
  const existing = [...objects, ...(more.sources ?? [])].map(withDefaultNamespace);
  const kinds = new Map(rules.map(({ rule, type }) => [rule.name, type]));
  const found: Consequence[] = [];
  for (const { object } of resources) {
    const store = createOverlayStore(createMemoryStore(existing));
    const run = createExistingRun({
      ...setup,
      policies: [policy],
      store,
      occasion: more.operation ?? 'CREATE',
      follow: false,
    });
    for await (const step of run.act(withDefaultNamespace(object))) {
      const type = kinds.get(step.rule.name);
      if (type !== undefined) found.push({ step, store, makes: type === 'generate' });
    }
  }
  return found;
}

function isMeant(
  { step, makes }: Consequence,
  reference: ResourceReference | undefined,
  kind: string,
): boolean {
  const fits = (ref: ObjectRef | undefined) =>
    ref !== undefined &&
    (kind === '' || ref.kind === kind.slice(kind.lastIndexOf('/') + 1)) &&
    isNamed(ref, reference);
  return fits(step.trigger) || (!makes && fits(step.ref));
}

function isNamed(ref: ObjectRef, reference: ResourceReference | undefined): boolean {
  if (reference === undefined) return true;
  return (
    reference.name === ref.name &&
    (reference.namespace === undefined || reference.namespace === ref.namespace) &&
    (reference.apiVersion === undefined || reference.apiVersion === ref.apiVersion) &&
    (reference.kind === undefined || reference.kind === ref.kind)
  );
}

async function judgeConsequence(
  { step, store, makes }: Consequence,
  { result, context }: BackgroundCheck,
): Promise<Checked> {
  const resource = refTitle(step.ref ?? step.trigger);
  const status = statusOfStep(step);
  if (status !== result.result) {
    const reason = `expected ${result.result}, got ${status}: ${step.message}`;
    return { resource, verdict: 'failed', reason };
  }
  const files = makes ? result.generatedResources : [result.patchedResources ?? []].flat();
  const actual = step.ref === undefined ? undefined : await store.get(step.ref);
  if (files.length === 0 || actual === undefined) return { resource, verdict: 'passed', reason: '' };
  const judgements: Judgement[] = [];
  for (const file of files) judgements.push(await judgeObject(actual, file, context, withoutOrigin));
  const [best] = judgements.toSorted((left, right) => rank[left.verdict] - rank[right.verdict]);
  return { resource, ...(best ?? { verdict: 'passed', reason: '' }) };
}

const statuses: Readonly<Record<ExistingStep['action'], TestResult['result']>> = {
  created: 'pass',
  updated: 'pass',
  deleted: 'pass',
  unchanged: 'skip',
  skipped: 'skip',
  failed: 'error',
};

export function statusOfStep({ action }: ExistingStep): TestResult['result'] {
  return statuses[action];
}

/** With several files, the one that contains the object decides. */
const rank: Readonly<Record<Judgement['verdict'], number>> = {
  passed: 0,
  failed: 1,
  unverified: 2,
  skipped: 3,
};

/** Removes the labels that record the origin of a generated object. */
export function withoutOrigin(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const labels = metadata['labels'];
  if (!isObject(labels)) return object;
  const own = Object.entries(labels).filter(
    ([name, value]) =>
      !name.startsWith(labelPrefix) && !(name === 'app.kubernetes.io/managed-by' && value === 'kyverno'),
  );
  const { labels: _, ...rest } = metadata;
  return setMember(
    object,
    'metadata',
    own.length === 0 ? rest : { ...rest, labels: Object.fromEntries(own) },
  );
}

function titleOfReference({ name, namespace, kind }: ResourceReference, fallback: string): string {
  return refTitle({ apiVersion: '', kind: kind ?? fallback, namespace: namespace ?? '', name });
}
