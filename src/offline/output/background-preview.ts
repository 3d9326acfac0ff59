import { backgroundRules } from '../../background/background-rule.ts';
import { refKey, refOf, refTitle } from '../../background/object-identity.ts';
import { createExistingRun, type ExistingStep } from '../../background/run/existing-run.ts';
import { createMemoryStore } from '../../background/store/memory-store.ts';
import { createOverlayStore } from '../../background/store/overlay-store.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { RequestUser } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledException, CompiledPolicy, Operation } from '../../policy/compiled.ts';
import type { Problem } from '../../problem.ts';
import { nameOf, withDefaultNamespace } from '../object-identity.ts';
import type { AppliedObject } from './apply-formats.ts';
import {
  isWrite,
  type PlannedChange,
  type PlannedStep,
  plannedChanges,
  wholeObject,
} from './planned-changes.ts';

/** The input of a preview of mutate existing and generate rules. */
export interface BackgroundInput {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  readonly dataSource: DataSource;
  readonly user?: RequestUser | undefined;
  /** Existing objects besides the resources given. */
  readonly others: readonly JsonObject[];
  readonly environment: Environment;
  operationOf(name: string): Operation;
}

export interface BackgroundPreview {
  /** Adds an object after admission. It is a trigger, and may be a target. */
  admitted(object: JsonObject): void;
  finish(): Promise<{
    readonly changes: readonly PlannedChange[];
    readonly steps: readonly PlannedStep[];
  }>;
}

/** Previews mutate existing and generate rules, which run after admission. Undefined when no policy has one. */
export function previewBackground(input: BackgroundInput): BackgroundPreview | undefined {
  const { policies, exceptions, dataSource, user, others, operationOf, environment } = input;
  if (policies.every((policy) => backgroundRules(policy).length === 0)) return undefined;
  const admitted: JsonObject[] = [];
  return {
    admitted: (object) => void admitted.push(object),
    async finish() {
      const base = createMemoryStore([...others.map(withDefaultNamespace), ...admitted]);
      const store = createOverlayStore(base);
      const steps: PlannedStep[] = [];
      const known = new Map<string, JsonObject | undefined>();
      // A write includes what mutate rules change when the API server admits it.
      const withObjects = async (step: ExistingStep): Promise<PlannedStep> => {
        if (step.ref === undefined || !isWrite(step)) return step;
        const ref = wholeObject(step.ref);
        const before = known.has(refKey(ref)) ? known.get(refKey(ref)) : await base.get(ref);
        const after = await store.get(ref);
        known.set(refKey(ref), after);
        return { ...step, before, after };
      };
      for (const object of admitted) {
        const run = createExistingRun({
          policies,
          exceptions,
          store,
          dataSource,
          environment,
          occasion: operationOf(nameOf(object)),
          follow: true,
          user,
        });
        for await (const step of run.act(object)) steps.push(await withObjects(step));
      }
      return { changes: plannedChanges(store.changes(), steps), steps };
    },
  };
}

/** Each object once: those of the input in their order with their last state, then those that only background rules change. */
export function withBackgroundChanges(
  objects: readonly AppliedObject[],
  changes: readonly PlannedChange[],
): readonly AppliedObject[] {
  const left = new Map(changes.map((change) => [refKey(change.ref), change]));
  const printed = objects
    .toReversed()
    .map((applied) => {
      const key = applied.evaluated === undefined ? '' : refKey(wholeObject(refOf(applied.evaluated.after)));
      const change = left.get(key);
      // If the input has an object twice, the last one is what the cluster has.
      left.delete(key);
      return change === undefined ? applied : { ...applied, change };
    })
    .reverse();
  const others = [...left.values()].map((change) => {
    const object = change.before ?? change.after ?? {};
    return { resource: { object, file: '(background)', line: 1, discovered: true }, change };
  });
  return [...printed, ...others];
}

export function absenceWarning({ policy, rule, trigger, message, code }: ExistingStep): Problem {
  return {
    code: code ?? 'KYM_TARGET_NOT_FOUND',
    severity: 'warning',
    message: `trigger ${refTitle(trigger)}: ${message}`,
    hint: 'add it with --target-resource',
    policy: policy.key,
    rule: rule.name,
    pointer: '',
    file: policy.source.file,
  };
}
