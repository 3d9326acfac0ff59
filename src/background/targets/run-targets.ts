import { failureText } from '../../admission/failure-text.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { Outcome } from '../../engine/outcome.ts';
import type { Request } from '../../engine/request.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Environment } from '../../expression/scope.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import type { Clock } from '../clock.ts';
import type { EvaluationOptions } from '../evaluate.ts';
import { refTitle } from '../object-identity.ts';
import type { ObjectReader, ObjectStore, StoreError } from '../ports.ts';
import type { Breaker, Chain } from '../queue/breaker.ts';
import { mutateTarget, mutateTargets, type TargetRun } from './mutate-existing.ts';
import { type TargetWrite, type TargetWriter, writeTarget } from './write-target.ts';

export interface TargetsOptions {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly request: Request;
  readonly store: ObjectStore;
  /** Reads targets: the store, or a list cache shared by several triggers. */
  readonly reader: ObjectReader;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly evaluation?: EvaluationOptions | undefined;
  readonly exceptions?: TargetRun['exceptions'];
  readonly eachTarget?: boolean | undefined;
  readonly clock: Clock;
  readonly breaker: Breaker;
  /** The rules whose writes led to this run. */
  readonly chain: Chain;
  isActive(): boolean;
  onWrite(write: TargetWrite): void;
}

/** Counts and failures of all targets of one trigger. */
export interface TargetsResult {
  readonly written: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly missing: readonly string[];
  readonly failures: readonly TargetFailure[];
  /** Set if the breaker stopped the rule. */
  readonly stopped?: string | undefined;
}

export interface TargetFailure {
  readonly message: string;
  readonly reason?: StoreError['reason'] | undefined;
  readonly code?: ErrorCode | undefined;
}

const concurrentWrites = 8;

/** Evaluates a rule on its targets and writes the changes. */
export async function runTargets(options: TargetsOptions): Promise<TargetsResult> {
  const { policy, rule, breaker, chain, reader } = options;
  const key = `${policyId(policy)}/${rule.name}`;
  const stopped = breaker.refusal(key, chain);
  if (stopped !== undefined)
    return { written: 0, unchanged: 0, skipped: 0, missing: [], failures: [], stopped };
  const run: TargetRun = { ...options, reader };
  const results = await mutateTargets(run);
  const writer: TargetWriter = {
    store: options.store,
    clock: options.clock,
    isActive: options.isActive,
    again: (result, fresh) => mutateTarget(run, result.ref, fresh, result.selectedBy),
    beforeWrite(before, { ref }) {
      const metadata = readObject(before ?? {}, 'metadata') ?? {};
      const uid = readText(metadata, 'uid') ?? ref.uid;
      if (uid !== undefined) breaker.wrote(key, chain, uid, readText(metadata, 'resourceVersion') ?? '');
    },
  };
  const writes: TargetWrite[] = [];
  const queue = [...results];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const write = await writeTarget(next, writer);
      writes.push(write);
      options.onWrite(write);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrentWrites, results.length) }, work));
  return summaryOf(writes);
}

function summaryOf(writes: readonly TargetWrite[]): TargetsResult {
  const count = (...outcomes: readonly TargetWrite['outcome'][]) =>
    writes.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const failed = writes.filter(({ outcome }) => outcome === 'failed');
  const missing = failed.filter(isMissing);
  return {
    written: count('written'),
    unchanged: count('unchanged'),
    skipped: count('skipped'),
    missing: [
      ...missing.map(({ result }) => ('failure' in result.outcome ? result.outcome.failure.detail : '')),
      ...writes.flatMap(({ outcome, result }) =>
        outcome === 'deleted' ? [`${refTitle(result.ref)} was deleted`] : [],
      ),
    ],
    failures: failed.filter((write) => !isMissing(write)).map(failureOf),
  };
}

function isMissing({ result, error }: TargetWrite): boolean {
  const { outcome } = result;
  return (
    error === undefined && outcome.status === 'failed' && outcome.failure.code === 'KYM_TARGET_NOT_FOUND'
  );
}

/** The message of the API server if it denied the write; otherwise a message without values from objects. */
function failureOf({ result, error }: TargetWrite): TargetFailure {
  const denial = error ?? result.storeError;
  if (denial !== undefined) return { message: denial.message, reason: denial.reason };
  const outcome = result.outcome as Extract<Outcome, { status: 'failed' }>;
  const title = result.ref.kind === '' ? '' : `${refTitle(result.ref)}: `;
  const { code } = outcome.failure;
  const owner = `policy ${outcome.policy.key}, rule ${outcome.rule.name}: `;
  const message = `${title}${failureText(outcome)}`;
  return { message: code === 'KYM_BUDGET_EXHAUSTED' ? `${owner}${message}` : message, code };
}
