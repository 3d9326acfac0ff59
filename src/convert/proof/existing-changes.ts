import { backgroundRules } from '../../background/background-rule.ts';
import { refKey, refOf } from '../../background/object-identity.ts';
import type { ListQuery, ObjectRef } from '../../background/ports.ts';
import { createExistingRun, type Occasion } from '../../background/run/existing-run.ts';
import { createMemoryStore, type MemoryStore } from '../../background/store/memory-store.ts';
import { createOverlayStore } from '../../background/store/overlay-store.ts';
import { equal } from '../../json/equal.ts';
import type { JsonObject } from '../../json/value.ts';
import { createInputDataSource } from '../../offline/data-source.ts';
import { fixedEnvironment } from './environment.ts';
import { existingObjects, targetExamples } from './existing-objects.ts';
import { namespaceData } from './namespace-data.ts';
import type { Form, Sample } from './sample.ts';

/** What a form does to the existing objects after a request, and when the policy is created. */
export interface ExistingChanges {
  /** The objects that changed. */
  readonly objects: readonly JsonObject[];
  /** The first failure. It is no difference by itself: the controller reports it, and the object stays as it is. */
  readonly failure?: string | undefined;
}

export interface ExistingPair {
  readonly old: ExistingChanges;
  readonly converted: ExistingChanges;
  readonly isSame: boolean;
}

/** Whether a form changes existing objects. */
function changesExisting({ policies }: Form): boolean {
  return policies.some((policy) => backgroundRules(policy).some(({ type }) => type === 'mutate'));
}

/**
 * Runs both forms on the existing objects that a trigger selects: after its request, and when the policy is created while the trigger
 * exists. Undefined if no form changes existing objects.
 */
export function existingComparer(
  old: Form,
  converted: Form,
): ((sample: Sample) => Promise<ExistingPair>) | undefined {
  if (!changesExisting(old) && !changesExisting(converted)) return undefined;
  const examples = targetExamples(old.policies);
  let count = 0;
  return async (sample) => {
    const objects =
      sample.existing ?? existingObjects(await lookedUp(old, sample), examples, sample, count++);
    let last: ExistingPair | undefined;
    for (const occasion of occasionsOf(sample)) {
      const before = await changesOf(old, sample, objects, occasion);
      const after = await changesOf(converted, sample, objects, occasion);
      const pair = { old: before, converted: after, isSame: isSame(before, after) };
      if (!pair.isSame) return pair;
      last = last === undefined || last.old.objects.length === 0 ? pair : last;
    }
    return last as ExistingPair;
  };
}

/** A trigger that is deleted does not exist any more when the policy changes. */
function occasionsOf({ operation }: Sample): readonly Occasion[] {
  return operation === 'DELETE' ? [operation] : [operation, 'policyUpdate'];
}

/** The objects that the old form looks for. */
async function lookedUp(form: Form, sample: Sample): Promise<readonly (ObjectRef | ListQuery)[]> {
  const queries: (ObjectRef | ListQuery)[] = [];
  const store = createMemoryStore(worldOf(sample, []));
  const recorder: MemoryStore = {
    ...store,
    async get(ref) {
      queries.push(ref);
      return store.get(ref);
    },
    async list(query) {
      queries.push(query);
      return store.list(query);
    },
  };
  for (const occasion of occasionsOf(sample)) await act(form, sample, recorder, occasion);
  return queries;
}

async function changesOf(
  form: Form,
  sample: Sample,
  objects: readonly JsonObject[],
  occasion: Occasion,
): Promise<ExistingChanges> {
  const overlay = createOverlayStore(createMemoryStore(worldOf(sample, objects)));
  const failure = await act(form, sample, overlay, occasion, objects);
  const changed = overlay
    .changes()
    .flatMap(({ ref, after }) => (after === undefined ? [] : [{ ref, after }]));
  return {
    objects: changed
      .toSorted((left, right) => (refKey(left.ref) < refKey(right.ref) ? -1 : 1))
      .map(({ after }) => after),
    failure,
  };
}

/** The trigger is stored before its rules run. */
function worldOf({ object, operation }: Sample, objects: readonly JsonObject[]): readonly JsonObject[] {
  const key = refKey(refOf(object));
  const others = objects.filter((each) => refKey(refOf(each)) !== key);
  return operation === 'DELETE' ? others : [object, ...others];
}

/** Returns the first failure. */
async function act(
  { policies, exceptions = [] }: Form,
  sample: Sample,
  store: MemoryStore | ReturnType<typeof createOverlayStore>,
  occasion: Occasion,
  objects: readonly JsonObject[] = [],
): Promise<string | undefined> {
  const environment = fixedEnvironment();
  const own = createInputDataSource(worldOf(sample, objects), environment);
  const run = createExistingRun({
    policies: policies.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    exceptions,
    store,
    dataSource: namespaceData({ ...sample, dataSource: sample.dataSource ?? own }),
    environment,
    occasion,
    user: sample.user,
    follow: false,
  });
  let failure: string | undefined;
  for await (const { action, message } of run.act(sample.object, sample.oldObject))
    if (action === 'failed') failure ??= message;
  return failure;
}

function isSame(old: ExistingChanges, converted: ExistingChanges): boolean {
  return (
    old.objects.length === converted.objects.length &&
    old.objects.every((object, index) => equal(object, converted.objects[index] ?? null))
  );
}
