import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kubectl, KubernetesObject } from './kubectl.ts';
import { waitFor } from './wait-for.ts';

const folder = fileURLToPath(new URL('../deploy/crds', import.meta.url));

/** On the definitions that a spec puts in place of ours. */
export const foreignLabel = 'app.kubernetes.io/part-of=kyverno';

/** Makes the policy kinds known, as an installation does; again is no harm. What somebody else made stays as it is. */
export async function installCustomResources(kubectl: Kubectl): Promise<void> {
  const foreign = await kubectl.list('customresourcedefinitions', `--selector=${foreignLabel}`);
  const foreignNames = new Set(foreign.map(({ metadata }) => metadata.name));
  const names = readdirSync(folder)
    .map((file) => basename(file, '.yaml'))
    .filter((name) => !foreignNames.has(name));
  const files = names.flatMap((name) => ['-f', `${folder}/${name}.yaml`]);
  await kubectl.ok('apply', '--server-side', '--force-conflicts', ...files);
  await waitFor(
    async () => {
      const definitions = await kubectl.list('customresourcedefinitions', ...names);
      return definitions.every(isEstablished);
    },
    { what: 'the custom resources to be established', seconds: 30 },
  );
}

function isEstablished({ status }: KubernetesObject): boolean {
  const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
  return conditions.some((condition) => condition.type === 'Established' && condition.status === 'True');
}
