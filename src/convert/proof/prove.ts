import { requestFor } from '../../admission/resource-request.ts';
import { mutate } from '../../engine/mutate.ts';
import type { Result } from '../../engine/outcome.ts';
import { equal } from '../../json/equal.ts';
import type { JsonObject } from '../../json/value.ts';
import { createSnapshot, type PolicySnapshot } from '../../policy/registry/registry.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { fixedEnvironment } from './environment.ts';
import { type ExistingChanges, type ExistingPair, existingComparer } from './existing-changes.ts';
import { existingFault, type Fault, findFault } from './fault.ts';
import { namespaceData } from './namespace-data.ts';
import type { Form, Sample } from './sample.ts';
import { type Call, callOf, isRegistered, webhookGate } from './webhook-gate.ts';

/** What happens to a request, or after it to existing objects. An object that is denied has no content to compare. */
export type Verdict =
  | { readonly type: 'admitted'; readonly object: JsonObject | null }
  | { readonly type: 'denied' }
  | ({ readonly type: 'existing' } & ExistingChanges);

export interface Difference {
  readonly sample: Sample;
  readonly old: Verdict;
  readonly converted: Verdict;
  readonly fault: Fault;
}

export interface Proof {
  /** Requests on which both forms were compared. */
  readonly compared: number;
  /** Requests that the old form changed. */
  readonly changed: number;
  /** Requests after which the old form changed existing objects. Undefined if it never does. */
  readonly existing?: number | undefined;
  /** The first one. */
  readonly difference?: Difference | undefined;
}

/**
 * Runs both forms of a policy on each request. They are equal if both deny the request, or both admit it with the same object. A
 * failure that `failurePolicy: Ignore` hides is not visible in the request, so only its effect on the object counts. Existing objects
 * that a request changes must be the same afterwards.
 */
export async function prove(old: Form, converted: Form, samples: Iterable<Sample>): Promise<Proof> {
  const [oldSnapshot, newSnapshot] = [snapshotOf(old), snapshotOf(converted)];
  const compare = comparer(old, converted);
  const compareExisting = existingComparer(old, converted);
  let compared = 0;
  let changed = 0;
  let existing = compareExisting === undefined ? undefined : 0;
  for (const sample of samples) {
    const found = await compare(sample);
    compared++;
    if (found.isChanged) changed++;
    if (found.isSame) {
      const pair = await compareExisting?.(sample);
      if (pair === undefined) continue;
      if (!pair.isSame) return { compared, changed, existing, difference: existingDifference(sample, pair) };
      if (pair.old.objects.length > 0) existing = (existing ?? 0) + 1;
      continue;
    }
    const fault = await findFault({
      old: await run(oldSnapshot, sample, true),
      converted: await run(newSnapshot, sample, true),
      sample,
      run: (policies) => run(snapshotOf({ policies }), sample),
    });
    const { old: before, converted: after } = found;
    return { compared, changed, existing, difference: { sample, old: before, converted: after, fault } };
  }
  return { compared, changed, existing };
}

function existingDifference(sample: Sample, { old, converted }: ExistingPair): Difference {
  return {
    sample,
    old: { type: 'existing', ...old },
    converted: { type: 'existing', ...converted },
    fault: existingFault(old, converted),
  };
}

export interface VerdictPair extends Pick<Difference, 'old' | 'converted'> {
  readonly isSame: boolean;
  /** The old form changes the object. */
  readonly isChanged: boolean;
}

/** Runs both forms on a request. */
export function comparer(old: Form, converted: Form): (sample: Sample) => Promise<VerdictPair> {
  const [oldSnapshot, newSnapshot] = [snapshotOf(old), snapshotOf(converted)];
  const gate = gateOf(old);
  return async (sample) => {
    const before = await run(oldSnapshot, sample);
    const after = verdictOf(await run(newSnapshot, sample));
    const call = gate === undefined || !isRegistered(before) ? 'called' : callOf(await run(gate, sample));
    const verdict = call === 'called' ? verdictOf(before) : uncalled(call, sample);
    const isChanged = call === 'called' && before.patch.length > 0;
    return {
      old: verdict,
      converted: after,
      isSame: isSame(verdict, after),
      isChanged: isChanged && verdict.type === 'admitted' && verdict.object !== null,
    };
  };
}

/** A form with conditions of a webhook is one policy. */
function gateOf({ policies }: Form): PolicySnapshot | undefined {
  const gates = policies.flatMap((policy) => webhookGate(policy) ?? []);
  if (gates.length > 0 && policies.length > 1)
    throw new Error('policies with conditions of a webhook are compared one by one');
  return gates[0];
}

function uncalled(call: Call, { object }: Sample): Verdict {
  return call === 'denied' ? { type: 'denied' } : { type: 'admitted', object };
}

export function verdictText(verdict: Verdict): string {
  if (verdict.type === 'denied') return 'the request is denied\n';
  if (verdict.type === 'existing') {
    const failure = verdict.failure === undefined ? [] : [`# failed: ${verdict.failure}\n`];
    if (verdict.objects.length + failure.length === 0) return 'no existing object is changed\n';
    return [...failure, ...verdict.objects.map((object) => writeYaml(object))].join('---\n');
  }
  return verdict.object === null ? 'the request is admitted\n' : writeYaml(verdict.object);
}

/** Policies run by name, as in a cluster. */
function snapshotOf({ policies, exceptions = [] }: Form): PolicySnapshot {
  return createSnapshot(policies, exceptions);
}

function run(snapshot: PolicySnapshot, sample: Sample, explain = false): Promise<Result> {
  const { object, operation, oldObject, user } = sample;
  return mutate(requestFor(object, { operation, oldObject, user }), snapshot, {
    dataSource: namespaceData(sample),
    environment: fixedEnvironment(),
    explain,
  });
}

function verdictOf({ object, failedPolicies }: Result): Verdict {
  if (failedPolicies.some(({ failurePolicy }) => failurePolicy === 'Fail')) return { type: 'denied' };
  return { type: 'admitted', object };
}

function isSame(old: Verdict, converted: Verdict): boolean {
  if (old.type !== 'admitted' || converted.type !== 'admitted') return old.type === converted.type;
  return equal(old.object, converted.object);
}
