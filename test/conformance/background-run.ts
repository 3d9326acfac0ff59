import { refTitle } from '../../src/background/object-identity.ts';
import { createExistingRun, type ExistingStep } from '../../src/background/run/existing-run.ts';
import { createMemoryStore } from '../../src/background/store/memory-store.ts';
import { createOverlayStore } from '../../src/background/store/overlay-store.ts';
import type { PolicySet } from '../../src/index.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { createInputDataSource } from '../../src/offline/data-source.ts';
import { withDefaultNamespace } from '../../src/offline/object-identity.ts';
import type { ConformanceCase } from './case.ts';
import { differences } from './compare.ts';

/** What does not hold of what background rules do after the requests, one line each. */
export async function laterFailures(
  testCase: ConformanceCase,
  triggers: readonly JsonObject[],
  set: PolicySet,
): Promise<readonly string[]> {
  const { expect, occasion, operation = 'CREATE', objects = [], namespaceLabels } = testCase;
  const all = [...triggers, ...objects].map(withDefaultNamespace);
  const base = occasion === undefined && operation === 'DELETE' ? all.slice(triggers.length) : all;
  const store = createOverlayStore(createMemoryStore(base));
  const namespaces = new Map(
    namespaceLabels === undefined ? [] : triggers.map((trigger) => [namespaceOf(trigger), namespaceLabels]),
  );
  const environment = { now: () => new Date(testCase.now ?? '2024-01-02T03:04:05Z'), random: () => 0 };
  const run = createExistingRun({
    policies: set.policies,
    exceptions: set.exceptions,
    store,
    dataSource: createInputDataSource(all, environment, { namespaces }),
    environment,
    occasion: occasion ?? operation,
    follow: true,
  });
  const steps: ExistingStep[] = [];
  for (const trigger of all.slice(0, triggers.length)) {
    for await (const step of run.act(trigger)) steps.push(step);
  }
  const changes = store.changes();
  const later = changes.map(
    ({ ref, after }): Json => (after === undefined ? { deleted: refTitle(ref) } : plain(after)),
  );
  return [
    ...differences((expect.later ?? []) as Json, later, 'ordered'),
    ...failedSteps(steps, expect.failed?.message),
  ];
}

function failedSteps(steps: readonly ExistingStep[], message: string | undefined): readonly string[] {
  const failed = steps.filter(({ action }) => action === 'failed').map((step) => step.message);
  if (message === undefined) return failed.map((text) => `failed: ${text}`);
  return failed.some((text) => text.includes(message))
    ? []
    : [`no rule failed with "${message}": ${failed.join('; ')}`];
}

function namespaceOf(object: JsonObject): string {
  const metadata = object['metadata'];
  const namespace = isObject(metadata) ? metadata['namespace'] : undefined;
  return typeof namespace === 'string' ? namespace : 'default';
}

/** Without the labels that tell where a generated object comes from: they have tests of their own. */
function plain(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  const labels = isObject(metadata) ? metadata['labels'] : undefined;
  if (!isObject(metadata) || !isObject(labels)) return object;
  const kept = Object.entries(labels).filter(
    ([key]) => !key.startsWith('generate.kyverno.io/') && key !== 'app.kubernetes.io/managed-by',
  );
  const { labels: _, ...rest } = metadata;
  return { ...object, metadata: kept.length === 0 ? rest : { ...rest, labels: Object.fromEntries(kept) } };
}
