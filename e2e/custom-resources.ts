import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kubectl, KubernetesObject } from './kubectl.ts';
import { waitFor } from './wait-for.ts';

const folder = fileURLToPath(new URL('../deploy/crds', import.meta.url));

/** A label on the CRDs that a spec installs instead of ours. */
export const foreignLabel = 'app.kubernetes.io/part-of=kyverno';

/** Installs the CRDs as the chart does. Idempotent; CRDs of others are not changed. */
export async function installCustomResources(kubectl: Kubectl): Promise<void> {
  const foreign = await kubectl.list('customresourcedefinitions', `--selector=${foreignLabel}`);
  const foreignNames = new Set(foreign.map(({ metadata }) => metadata.name));
  const names = readdirSync(folder)
    .map((file) => basename(file, '.yaml'))
    .filter((name) => !foreignNames.has(name));
  const files = names.flatMap((name) => ['-f', `${folder}/${name}.yaml`]);
  await untilGone(kubectl, (definition) => definition.metadata.deletionTimestamp !== undefined);
  await kubectl.ok('apply', '--server-side', '--force-conflicts', ...files);
  await waitFor(
    async () => {
      const definitions = await kubectl.list('customresourcedefinitions', ...names);
      return definitions.every(isEstablished);
    },
    { what: 'the custom resources to be established' },
  );
}

/** Deletes CRDs with all their objects, and waits until they are gone. */
export async function removeCustomResources(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  await kubectl.ok('delete', 'crds', ...names, '--ignore-not-found', '--wait=false');
  await untilGone(kubectl, ({ metadata }) => names.includes(metadata.name));
}

/**
 * The API server cannot delete a CRD while its storage is being set up, and retries with increasing delays. A change of the
 * CRD makes it retry immediately.
 */
async function untilGone(
  kubectl: Kubectl,
  isMeant: (definition: KubernetesObject) => boolean,
): Promise<void> {
  await waitFor(
    async () => {
      const left = (await kubectl.list('customresourcedefinitions')).filter(isMeant);
      for (const { metadata } of left) {
        await kubectl.run(['annotate', 'crd', metadata.name, `e2e/looked-at=${Date.now()}`, '--overwrite']);
      }
      return left.length === 0;
    },
    { what: 'definitions to be gone', everyMs: 1_000 },
  );
}

function isEstablished({ status }: KubernetesObject): boolean {
  const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
  return conditions.some((condition) => condition.type === 'Established' && condition.status === 'True');
}
