import type { ErrorCode } from '../../errors.ts';
import { equal } from '../../json/equal.ts';
import { metadataOf } from '../../json/metadata.ts';
import type { JsonObject } from '../../json/value.ts';
import { refKey, refOf, refTitle } from '../object-identity.ts';
import { type ObjectRef, type ObjectStore, StoreError } from '../ports.ts';
import { applyObject } from './apply.ts';
import { replaced } from './content.ts';
import { type Desired, type DesiredRun, desiredObjects } from './desired.ts';
import { downstreamOf, mayGenerate } from './downstream.ts';

export interface GenerateRun extends Omit<DesiredRun, 'reader'> {
  readonly store: ObjectStore;
  /** Called before each write: another replica may be the leader by now. */
  isActive?(): boolean;
  /** The rule itself has changed: as in Kyverno, what it generated before stays. */
  readonly keepStale?: boolean | undefined;
}

/** The result for one generated object. */
export interface GeneratedObject {
  readonly ref?: ObjectRef | undefined;
  readonly action: 'created' | 'updated' | 'deleted' | 'unchanged' | 'skipped' | 'failed';
  readonly before?: JsonObject | undefined;
  /** The object as stored. */
  readonly after?: JsonObject | undefined;
  readonly message: string;
  /** Set on failure. */
  readonly code?: ErrorCode | undefined;
  readonly storeError?: StoreError | undefined;
}

export interface GenerateResult {
  readonly objects: readonly GeneratedObject[];
}

/**
 * Creates the missing objects of a generate rule and, with synchronize, updates those that differ and deletes those that the
 * trigger no longer needs.
 */
export async function runGenerate(run: GenerateRun): Promise<GenerateResult> {
  const desired = await desiredObjects({ ...run, reader: run.store });
  const objects: GeneratedObject[] = [];
  for (const one of desired) objects.push(await writeDesired(one, run));
  const isComplete = objects.every(({ action }) => action !== 'failed');
  const mayBeStale = run.keepStale !== true && run.request.operation !== 'CREATE';
  if (isComplete && run.rule.synchronize && mayBeStale) {
    objects.push(...(await removeStale(desired, run)));
  }
  return { objects };
}

async function writeDesired(desired: Desired, run: GenerateRun): Promise<GeneratedObject> {
  const { ref } = desired;
  if ('skipped' in desired) return { ref, action: 'skipped', message: desired.skipped };
  if ('failed' in desired) {
    const { code, failed, storeError } = desired;
    return { ref, action: 'failed', message: failed, code, storeError };
  }
  try {
    return await write(desired.ref, desired.object, run);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === 'terminating')
      return { ref, action: 'skipped', message: `namespace ${desired.ref.namespace} is being deleted` };
    return { ref, action: 'failed', message: error.message, code: 'KYM_CLUSTER', storeError: error };
  }
}

const maxAttempts = 5;

/** Reads the object again if somebody else writes it at the same time. */
async function write(ref: ObjectRef, wanted: JsonObject, run: GenerateRun): Promise<GeneratedObject> {
  const { store, rule } = run;
  for (let attempt = 1; ; attempt++) {
    const before = await store.get(ref);
    const title = refTitle(ref);
    if (before !== undefined && !rule.synchronize) {
      return { ref, action: 'unchanged', before, after: before, message: `${title} already exists` };
    }
    const object = before === undefined ? wanted : replaced(before, wanted);
    if (before !== undefined && !rule.useServerSideApply && equal(before, object)) {
      return { ref, action: 'unchanged', before, after: before, message: `${title} is up to date` };
    }
    if (run.isActive?.() === false)
      throw new StoreError('unavailable', 'another replica has become the leader');
    try {
      if (rule.useServerSideApply) return await writeApplied(ref, before, wanted, store);
      if (before === undefined) {
        return { ref, action: 'created', after: await store.create(object), message: `generated ${title}` };
      }
      return {
        ref,
        action: 'updated',
        before,
        after: await store.update(before, object),
        message: `updated ${title}`,
      };
    } catch (error) {
      const isRace = error instanceof StoreError && races.has(error.reason);
      if (!isRace || attempt >= maxAttempts) throw error;
    }
  }
}

async function writeApplied(
  ref: ObjectRef,
  before: JsonObject | undefined,
  wanted: JsonObject,
  store: ObjectStore,
): Promise<GeneratedObject> {
  const title = refTitle(ref);
  const after = await applyObject(store, before, wanted);
  if (before === undefined) return { ref, action: 'created', after, message: `generated ${title}` };
  // The API server keeps the resourceVersion if nothing changes.
  const isSame = metadataOf(before)['resourceVersion'] === metadataOf(after)['resourceVersion'];
  if (isSame && (metadataOf(after)['resourceVersion'] !== undefined || equal(before, after)))
    return { ref, action: 'unchanged', before, after, message: `${title} is up to date` };
  return { ref, action: 'updated', before, after, message: `updated ${title}` };
}

const races: ReadonlySet<string> = new Set(['conflict', 'alreadyExists', 'notFound']);

/** Deletes what the rule generated for this trigger before and no longer generates, unless an earlier version of the rule did. */
async function removeStale(
  desired: readonly Desired[],
  run: GenerateRun,
): Promise<readonly GeneratedObject[]> {
  const wanted = new Set(desired.flatMap(({ ref }) => (ref === undefined ? [] : [refKey(ref)])));
  const trigger = refOf(run.request.object ?? run.request.oldObject ?? {});
  const there = await downstreamOf(run.policy, run.rule, trigger, run.store);
  return removeObjects(
    there.filter((object) => !wanted.has(refKey(refOf(object))) && mayGenerate(run.rule, refOf(object))),
    run.store,
    run.isActive,
  );
}

/** Deletes generated objects. A failed deletion does not affect the others. */
export async function removeObjects(
  objects: readonly JsonObject[],
  store: ObjectStore,
  isActive?: () => boolean,
): Promise<readonly GeneratedObject[]> {
  const removed: GeneratedObject[] = [];
  for (const before of objects) {
    if (isActive?.() === false) break;
    const ref = refOf(before);
    try {
      await store.remove(ref);
      removed.push({ ref, action: 'deleted', before, message: `deleted ${refTitle(ref)}` });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      removed.push({
        ref,
        action: 'failed',
        before,
        message: error.message,
        code: 'KYM_CLUSTER',
        storeError: error,
      });
    }
  }
  return removed;
}
