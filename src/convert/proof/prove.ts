import { requestFor } from '../../admission/resource-request.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import { mutate } from '../../engine/mutate.ts';
import type { Result } from '../../engine/outcome.ts';
import type { Environment } from '../../expression/scope.ts';
import { equal } from '../../json/equal.ts';
import { nameOf, namespaceOf } from '../../json/metadata.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { createSnapshot, type PolicySnapshot } from '../../policy/registry.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { type Fault, findFault } from './fault.ts';
import type { Sample } from './sample.ts';
import { type Call, callOf, isRegistered, webhookGate } from './webhook-gate.ts';

/** One form of a policy. */
export interface Form {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions?: readonly CompiledException[] | undefined;
}

/** What happens to a request. An object that is denied has no content to compare. */
export type Verdict =
  | { readonly type: 'admitted'; readonly object: JsonObject | null }
  | { readonly type: 'denied' };

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
  /** The first one. */
  readonly difference?: Difference | undefined;
}

/**
 * Runs both forms of a policy on each request. They are equal if both deny the request, or both admit it with the same object. A
 * failure that `failurePolicy: Ignore` hides is not visible in the request, so only its effect on the object counts.
 */
export async function prove(old: Form, converted: Form, samples: Iterable<Sample>): Promise<Proof> {
  const [oldSnapshot, newSnapshot] = [snapshotOf(old), snapshotOf(converted)];
  const compare = comparer(old, converted);
  let compared = 0;
  let changed = 0;
  for (const sample of samples) {
    const found = await compare(sample);
    compared++;
    if (found.isChanged) changed++;
    if (found.isSame) continue;
    const fault = await findFault({
      old: await run(oldSnapshot, sample, true),
      converted: await run(newSnapshot, sample, true),
      sample,
      run: (policies) => run(snapshotOf({ policies }), sample),
    });
    return { compared, changed, difference: { sample, old: found.old, converted: found.converted, fault } };
  }
  return { compared, changed };
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
  return verdict.object === null ? 'the request is admitted\n' : writeYaml(verdict.object);
}

/** Policies run by name, as in a cluster. */
function snapshotOf({ policies, exceptions = [] }: Form): PolicySnapshot {
  return createSnapshot(policies, exceptions);
}

function run(snapshot: PolicySnapshot, sample: Sample, explain = false): Promise<Result> {
  const { object, operation, oldObject, user } = sample;
  return mutate(requestFor(object, { operation, oldObject, user }), snapshot, {
    dataSource: withNamespace(sample),
    environment: fixedEnvironment(),
    explain,
  });
}

function fixedEnvironment(): Environment {
  let state = 1;
  return {
    now: () => new Date(Date.UTC(2024, 0, 2, 3, 4, 5)),
    random: () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    },
  };
}

/** A namespace has the label with its name, and those of the sample or, if it has none, of its data. */
function withNamespace({ object, namespaceLabels, dataSource }: Sample): DataSource {
  const name = object['kind'] === 'Namespace' ? nameOf(object) : namespaceOf(object);
  const labels = { 'kubernetes.io/metadata.name': name, ...namespaceLabels };
  return {
    read: (query, milliseconds) => {
      const isGiven = Object.keys(namespaceLabels).length > 0 || dataSource === undefined;
      if (query.type === 'namespaceLabels' && isGiven) return { found: true, value: labels };
      return dataSource?.read(query, milliseconds) ?? { found: false, error: 'not found', absent: true };
    },
  };
}

function verdictOf({ object, failedPolicies }: Result): Verdict {
  if (failedPolicies.some(({ failurePolicy }) => failurePolicy === 'Fail')) return { type: 'denied' };
  return { type: 'admitted', object };
}

function isSame(old: Verdict, converted: Verdict): boolean {
  if (old.type === 'denied' || converted.type === 'denied') return old.type === converted.type;
  return equal(old.object, converted.object);
}
