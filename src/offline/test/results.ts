import { kindOf } from '../../admission/resource-request.ts';
import { backgroundRules } from '../../background/background-rule.ts';
import { refKey } from '../../background/object-identity.ts';
import type { ObjectRef } from '../../background/ports.ts';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { type Evaluated, type Evaluator, reportStatus } from '../evaluator.ts';
import { nameOf, namespaceOf, withoutDefaultNamespace } from '../object-identity.ts';
import { wholeObject } from '../output/planned-changes.ts';
import { backgroundConsequences, type Consequence, statusOfStep, withoutOrigin } from './background.ts';
import type { TestDocument } from './document.ts';
import type { TestSetup } from './setup.ts';

/** One entry of `results` in a test. */
export type ExpectedResult = {
  readonly policy: string;
  readonly rule: string;
  readonly kind: string;
  readonly resources: string[];
  readonly patchedResources?: string;
  readonly generatedResource?: string;
  readonly result: string;
};

export interface CollectedResults {
  readonly results: readonly ExpectedResult[];
  /** Mutated and generated objects by the name of their file. */
  readonly expected: ReadonlyMap<string, readonly JsonObject[]>;
}

type Setup = Pick<TestSetup, 'policies' | 'resources' | 'background'> & { readonly evaluator: Evaluator };

/** The current result of every rule for every resource that it selects. */
export async function collectResults(setup: Setup): Promise<CollectedResults> {
  const collector = new Collector(setup);
  for (const { object } of setup.resources) {
    collector.addEvaluated(object, await setup.evaluator.evaluate(object));
  }
  for (const policy of setup.policies) {
    const rules = backgroundRules(policy);
    if (rules.length === 0) continue;
    await collector.addConsequences(policy, await backgroundConsequences(policy, rules, setup));
  }
  return collector.collected();
}

class Collector {
  readonly #policies: readonly CompiledPolicy[];
  readonly #names: readonly string[];
  readonly #results = new Map<string, ExpectedResult>();
  readonly #expected = new Map<string, JsonObject[]>();

  constructor({ policies, resources, background }: Setup) {
    this.#policies = policies;
    const objects = new Set([...resources.map(({ object }) => object), ...background.objects]);
    this.#names = [...objects].map((object) => `${kindOf(object).kind} ${nameOf(object)}`);
  }

  collected(): CollectedResults {
    return { results: [...this.#results.values()], expected: this.#expected };
  }

  addEvaluated(object: JsonObject, evaluated: Evaluated): void {
    const { kind } = kindOf(object);
    const reference = this.#referenceTo(kind, namespaceOf(object), nameOf(object));
    for (const policy of this.#policies) {
      const file = this.#fileOf('patched', policy);
      let isChanged = false;
      for (const [rule, result] of statuses(policy, evaluated)) {
        isChanged ||= result === 'pass';
        const patched = result === 'pass' ? { patchedResources: file } : {};
        this.#add({ policy: policy.key, rule, kind, resources: [], ...patched, result }, reference);
      }
      const after = withoutDefaultNamespace(evaluated.steps.get(policy) ?? evaluated.after, object);
      if (isChanged) this.#expect(file, after);
    }
  }

  /**
   * A mutate existing rule is tested by its targets, a generate rule by its triggers. If triggers change one target in different
   * ways, the rule is tested by its triggers, and only the status is compared.
   */
  async addConsequences(policy: CompiledPolicy, consequences: readonly Consequence[]): Promise<void> {
    const states = new Map<string, Target>();
    for (const consequence of consequences) {
      const { step, store } = consequence;
      if (step.ref === undefined) continue;
      const key = `${step.rule.name} ${refKey(wholeObject(step.ref))}`;
      const state = { status: statusOfStep(step), object: await store.get(step.ref) };
      const known = states.get(key);
      const isSame = known === undefined || isSameState(known, state);
      states.set(key, { ...state, isAmbiguous: known?.isAmbiguous === true || !isSame });
    }
    for (const { step, makes } of consequences) {
      const target = step.ref && states.get(`${step.rule.name} ${refKey(wholeObject(step.ref))}`);
      const isByTarget = !makes && target !== undefined && !target.isAmbiguous;
      const subject: ObjectRef = (isByTarget ? step.ref : undefined) ?? step.trigger;
      const result = statusOfStep(step);
      const isWritten = result === 'pass' && target?.object !== undefined && !target.isAmbiguous;
      const file = this.#fileOf(makes ? 'generated' : 'patched', policy);
      const files = makes ? { generatedResource: file } : { patchedResources: file };
      const { kind, namespace, name } = subject;
      this.#add(
        {
          policy: policy.key,
          rule: step.rule.name,
          kind,
          resources: [],
          ...(isWritten ? files : {}),
          result,
        },
        this.#referenceTo(kind, namespace, name),
      );
      if (isWritten && target.object !== undefined) {
        this.#expect(file, makes ? withoutOrigin(target.object) : target.object);
      }
    }
  }

  #add(entry: ExpectedResult, reference: string): void {
    const key = stringifyJson(entry);
    const known = this.#results.get(key) ?? entry;
    if (!known.resources.includes(reference)) known.resources.push(reference);
    this.#results.set(key, known);
  }

  #expect(file: string, object: JsonObject): void {
    const known = this.#expected.get(file) ?? [];
    if (!known.some((other) => equal(other, object))) this.#expected.set(file, [...known, object]);
  }

  /** The name alone if no other object of the test has the same kind and name. */
  #referenceTo(kind: string, namespace: string, name: string): string {
    const wanted = `${kind} ${name}`;
    const isUnique = this.#names.indexOf(wanted) === this.#names.lastIndexOf(wanted);
    return isUnique || namespace === '' ? name : `${namespace}/${name}`;
  }

  #fileOf(stem: string, policy: CompiledPolicy): string {
    return this.#policies.length === 1 ? `${stem}.yaml` : `${stem}-${policy.key.replaceAll('/', '-')}.yaml`;
  }
}

interface State {
  readonly status: string;
  readonly object: JsonObject | undefined;
}

type Target = State & { readonly isAmbiguous: boolean };

function isSameState(left: State, right: State): boolean {
  if (left.status !== right.status) return false;
  return left.object === right.object || equal(left.object ?? null, right.object ?? null);
}

/** The status by rule name. An autogen rule counts as the rule it comes from. */
function statuses(policy: CompiledPolicy, evaluated: Evaluated): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const outcome of evaluated.outcomes) {
    const status = outcome.policy === policy ? reportStatus(outcome) : undefined;
    if (status !== undefined) found.set(outcome.rule.autogenOf ?? outcome.rule.name, status);
  }
  return found;
}

/** The parts of a test document besides its results. */
export type TestSource = Pick<
  TestDocument,
  'name' | 'policies' | 'resources' | 'otherResources' | 'exceptions' | 'valuesFile' | 'userInfoFile'
> & {
  /** Mocks of API calls and global context entries. */
  readonly mocks?: JsonObject | undefined;
};

/** The source of a test document. */
export function testText(document: TestSource, results: readonly ExpectedResult[]): string {
  const { policies, resources, otherResources, exceptions, valuesFile, userInfoFile } = document;
  const content: JsonObject = {
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'Test',
    metadata: { name: document.name },
    policies,
    resources,
    ...(otherResources.length === 0 ? {} : { targetResources: otherResources }),
    ...(valuesFile === undefined ? {} : { variables: valuesFile }),
    ...(userInfoFile === undefined ? {} : { userinfo: userInfoFile }),
    ...(exceptions.length === 0 ? {} : { exceptions }),
    ...document.mocks,
    results: results.map((result) => ({ ...result })),
  };
  return writeYaml(content);
}
