import type { ErrorCode } from '../../errors.ts';
import { equal } from '../../json/equal.ts';
import { isArray, type JsonObject, member } from '../../json/value.ts';
import type { PolicyPlace, PolicyRunner } from '../../kustomize/build-context.ts';
import { KustomizeError } from '../../kustomize/kustomize-error.ts';
import { createInputDataSource } from '../../offline/data-source.ts';
import { createEvaluator } from '../../offline/evaluator.ts';
import { titleOf, withoutDefaultNamespace } from '../../offline/object-identity.ts';
import { createValuesLookup } from '../../offline/request-values.ts';
import { resourceRole } from '../../offline/resource-role.ts';
import type { SourceFile } from '../../policy/documents.ts';
import { type LoadResult, loadDocuments } from '../../policy/load.ts';
import type { Problem } from '../../problem.ts';
import { loadPolicies } from '../input/policy-input.ts';
import type { Io } from '../io.ts';
import { plain } from '../output/style.ts';
import { formatProblem } from '../problem-text.ts';

/** What one rule did to one object. */
export interface PolicyChange {
  /** `Deployment shop/web`. */
  readonly object: string;
  readonly policy: string;
  readonly rule: string;
  /** `add /metadata/labels/team`. */
  readonly operations: readonly string[];
}

/** A rule that failed: nothing of its policy is in the object. */
export interface PolicyFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface PolicyOutcome {
  /** In the order given; the same object (===) where nothing changed. */
  readonly objects: readonly JsonObject[];
  readonly changes: readonly PolicyChange[];
  readonly failures: readonly PolicyFailure[];
}

/** Runs policies on the objects of a build, which are also what the policies can read. */
export async function applyPolicies(
  loaded: Pick<LoadResult, 'policies' | 'exceptions' | 'globalContext'>,
  objects: readonly JsonObject[],
): Promise<PolicyOutcome> {
  const evaluator = createEvaluator({
    policies: loaded.policies,
    exceptions: loaded.exceptions,
    values: createValuesLookup(),
    dataSource: createInputDataSource([...loaded.globalContext, ...objects]),
  });
  const results: JsonObject[] = [];
  const changes: PolicyChange[] = [];
  const failures: PolicyFailure[] = [];
  for (const object of objects) {
    if (resourceRole(object) !== 'resource') {
      results.push(object);
      continue;
    }
    const { after, outcomes } = await evaluator.evaluate(object);
    const result = withoutDefaultNamespace(after, object);
    results.push(equal(result, object) ? object : result);
    for (const outcome of outcomes) {
      const place = { object: titleOf(object), policy: outcome.policy.key, rule: outcome.rule.name };
      if (outcome.status === 'failed') {
        const message = `${place.object}: policy ${place.policy}, rule ${place.rule}: ${outcome.message}`;
        failures.push({ code: outcome.failure.code, message });
      } else if (outcome.status === 'applied') {
        changes.push({ ...place, operations: outcome.patch.map(({ op, path }) => `${op} ${path}`) });
      }
    }
  }
  return { objects: results, changes, failures };
}

/** Policies that the command line names; throws InputError with what is wrong in them. */
export async function loadBuildPolicies(names: readonly string[], io: Io): Promise<LoadResult> {
  const loaded = await loadPolicies(names, io);
  for (const problem of loaded.problems) await io.stderr.write(`${formatProblem(problem, plain)}\n`);
  return loaded;
}

export function formatChange({ object, policy, rule, operations }: PolicyChange): string {
  return `${object}: policy ${policy}, rule ${rule}: ${operations.join(', ')}`;
}

/** Runs policies that a kustomization lists under `transformers`. */
export function createPolicyRunner(report: (change: PolicyChange) => void = () => {}): PolicyRunner {
  return {
    async run(configs, objects, place) {
      const loaded = loadDocuments(configs.flatMap((config) => policySources(config, place)));
      const [error] = loaded.problems.filter(({ severity }) => severity === 'error');
      if (error !== undefined) throw problemError(error);
      if (loaded.policies.length === 0) {
        const message = 'a transformer names no policy that can be run';
        throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, {
          file: place.file,
          field: 'transformers',
        });
      }
      const { objects: results, changes, failures } = await applyPolicies(loaded, objects);
      const [failure] = failures;
      if (failure !== undefined) {
        throw new KustomizeError(failure.code, failure.message, { file: place.file, field: 'transformers' });
      }
      for (const change of changes) report(change);
      return results;
    },
  };
}

/** A policy is its own source; a PolicyTransformer names files with policies, relative to the kustomization. */
function policySources(config: JsonObject, place: PolicyPlace): readonly SourceFile[] {
  if (member(config, 'kind') !== 'PolicyTransformer') {
    return [{ file: place.file, text: JSON.stringify(config) }];
  }
  const files = member(config, 'policies');
  if (!isArray(files) || files.length === 0 || !files.every((file) => typeof file === 'string')) {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'a PolicyTransformer lists files under policies', {
      file: place.file,
      field: 'transformers: policies',
    });
  }
  return (files as readonly string[]).map((file, index) => ({
    file,
    text: place.readText(file, `transformers: policies[${index}]`),
  }));
}

function problemError(problem: Problem): KustomizeError {
  return new KustomizeError(problem.code, problem.message, {
    ...(problem.file !== undefined && { file: problem.file }),
    field: problem.pointer,
    ...(problem.hint !== undefined && { hint: problem.hint }),
  });
}
