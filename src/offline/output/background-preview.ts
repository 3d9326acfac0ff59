import { backgroundRules } from '../../background/background-rule.ts';
import { refTitle } from '../../background/object-identity.ts';
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
import { type PlannedChange, plannedChanges } from './planned-changes.ts';

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
    readonly failures: readonly ExistingStep[];
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
      const store = createOverlayStore(createMemoryStore([...others.map(withDefaultNamespace), ...admitted]));
      const steps: ExistingStep[] = [];
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
        for await (const step of run.act(object)) steps.push(step);
      }
      return {
        changes: plannedChanges(store.changes(), steps),
        failures: steps.filter(({ action }) => action === 'failed'),
      };
    },
  };
}

const absent: ReadonlySet<string | undefined> = new Set(['KYM_TARGET_NOT_FOUND', 'KYM_SOURCE_NOT_FOUND']);

/** A missing target or source may exist in a cluster, so this is a warning and not a failure of the policy. */
export function isAbsence({ code }: ExistingStep): boolean {
  return absent.has(code);
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
