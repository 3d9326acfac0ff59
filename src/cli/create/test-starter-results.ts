import { kindOf } from '../../admission/resource-request.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Evaluated, Evaluator } from '../../offline/evaluator.ts';
import { nameOf, namespaceOf, withoutDefaultNamespace } from '../../offline/object-identity.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { Resource } from '../input/resource-reader.ts';
import { statusOf } from '../test/judgement.ts';

/** One entry of `results` in a test. */
export type ExpectedResult = {
  readonly policy: string;
  readonly rule: string;
  readonly kind: string;
  readonly resources: string[];
  readonly patchedResources?: string;
  readonly result: string;
};

export interface CollectedResults {
  readonly results: readonly ExpectedResult[];
  /** Objects as policies leave them, by the name of their file. */
  readonly expected: ReadonlyMap<string, readonly JsonObject[]>;
}

interface Setup {
  readonly policies: readonly CompiledPolicy[];
  readonly resources: readonly Resource[];
  readonly evaluator: Evaluator;
}

/** What every rule does to every resource now, for rules that look at it. */
export async function collectResults({ policies, resources, evaluator }: Setup): Promise<CollectedResults> {
  const results = new Map<string, ExpectedResult>();
  const expected = new Map<string, JsonObject[]>();
  const names = resources.map(({ object }) => `${kindOf(object).kind} ${nameOf(object)}`);
  for (const [index, { object }] of resources.entries()) {
    const evaluated = await evaluator.evaluate(object);
    const name = nameOf(object);
    const isUnique = names.indexOf(names[index] ?? '') === names.lastIndexOf(names[index] ?? '');
    const namespace = namespaceOf(object);
    const reference = isUnique || namespace === '' ? name : `${namespace}/${name}`;
    for (const policy of policies) {
      const file = policies.length === 1 ? 'patched.yaml' : `patched-${policy.key.replaceAll('/', '-')}.yaml`;
      let isChanged = false;
      for (const [rule, result] of statuses(policy, evaluated)) {
        isChanged ||= result === 'pass';
        const patched = result === 'pass' ? { patchedResources: file } : {};
        const entry: ExpectedResult = {
          policy: policy.key,
          rule,
          kind: kindOf(object).kind,
          resources: [],
          ...patched,
          result,
        };
        const key = JSON.stringify(entry);
        const known = results.get(key) ?? entry;
        known.resources.push(reference);
        results.set(key, known);
      }
      const after = withoutDefaultNamespace(evaluated.steps.get(policy) ?? evaluated.after, object);
      if (isChanged) expected.set(file, [...(expected.get(file) ?? []), after]);
    }
  }
  return { results: [...results.values()], expected };
}

/** Rules as their author named them; a rule made for pod controllers counts as the one it was made from. */
function statuses(policy: CompiledPolicy, evaluated: Evaluated): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const outcome of evaluated.outcomes) {
    const status = outcome.policy === policy ? statusOf(outcome) : undefined;
    if (status !== undefined) found.set(outcome.rule.autogenOf ?? outcome.rule.name, status);
  }
  return found;
}
