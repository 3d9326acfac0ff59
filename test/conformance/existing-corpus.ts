import { refOf } from '../../src/background/object-identity.ts';
import { createExistingRun, type Occasion } from '../../src/background/run/existing-run.ts';
import { createMemoryStore } from '../../src/background/store/memory-store.ts';
import { loadPolicies } from '../../src/index.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { createInputDataSource } from '../../src/offline/data-source.ts';
import { withDefaultNamespace } from '../../src/offline/object-identity.ts';
import type { CompiledPolicy } from '../../src/policy/compiled.ts';
import { differences } from './compare.ts';
import { type CorpusCase, readObjects } from './kyverno-corpus.ts';

interface CorpusStep {
  readonly op: string;
  readonly files?: readonly string[];
}

/** Cases of rules for existing objects that need nothing but objects and policies. */
export function isExistingCase({ results, needs = [] }: CorpusCase): boolean {
  return results.some(({ target }) => target !== undefined) && !needs.includes('cluster-status');
}

/** Goes through the steps of a case as a cluster would, and says which assertions do not hold. */
export async function existingFailures(corpusCase: CorpusCase): Promise<readonly string[]> {
  const { steps } = corpusCase as CorpusCase & { readonly steps: readonly CorpusStep[] };
  // Every cluster has this one.
  const store = createMemoryStore([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }]);
  const policies = new Map<string, CompiledPolicy>();
  const failures: string[] = [];

  async function act(
    occasion: Occasion,
    only: readonly CompiledPolicy[],
    triggers: readonly JsonObject[],
    before?: JsonObject,
  ) {
    const environment = { now: () => new Date(0), random: () => 0.5 };
    const run = createExistingRun({
      policies: only,
      exceptions: [],
      store,
      dataSource: { read: (query) => createInputDataSource(store.objects(), environment).read(query) },
      environment,
      occasion,
      follow: true,
    });
    for (const trigger of triggers) for await (const _ of run.act(trigger, before));
  }

  async function apply(object: JsonObject): Promise<void> {
    const kind = object['kind'];
    if (kind === 'ClusterPolicy' || kind === 'Policy') {
      const [policy] = loadPolicies({ file: 'policy.json', text: JSON.stringify(object) }).policies;
      if (policy === undefined) return;
      policies.set(policy.key, policy);
      await act('policyUpdate', [policy], store.objects());
      return;
    }
    const whole = withDefaultNamespace(object);
    const before = await store.get(refOf(whole));
    if (before === undefined) await store.create(whole);
    else await store.update(before, whole);
    await act(before === undefined ? 'CREATE' : 'UPDATE', [...policies.values()], [whole], before);
  }

  for (const { op, files = [] } of steps) {
    const objects = files
      .flatMap((file) => readObjects(corpusCase, file))
      .filter((object) => 'kind' in object);
    if (op === 'apply' || op === 'create') for (const object of objects) await apply(object);
    if (op === 'assert' || op === 'error') {
      for (const object of objects.filter(
        ({ apiVersion }) => !String(apiVersion).startsWith('kyverno.io/'),
      )) {
        const actual = await store.get(refOf(withDefaultNamespace(object)));
        const found = differences(object, actual ?? null, 'partial');
        if (op === 'assert') failures.push(...found);
        else if (found.length === 0) failures.push(`${JSON.stringify(object)} is there`);
      }
    }
  }
  return failures;
}
