import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Kubectl } from './kubectl.ts';

const folder = fileURLToPath(new URL('../deploy/crds', import.meta.url));

/** On the definitions that a spec puts in place of ours. */
export const foreignLabel = 'app.kubernetes.io/part-of=kyverno';

/** Makes the policy kinds known, as an installation does; again is no harm. What somebody else made stays as it is. */
export async function installCustomResources(kubectl: Kubectl): Promise<void> {
  const foreign = await kubectl.list('customresourcedefinitions', `--selector=${foreignLabel}`);
  const names = new Set(foreign.map(({ metadata }) => `${metadata.name}.yaml`));
  const files = readdirSync(folder)
    .filter((name) => !names.has(name))
    .flatMap((name) => ['-f', `${folder}/${name}`]);
  await kubectl.ok('apply', '--server-side', '--force-conflicts', ...files);
  await kubectl.ok('wait', '--for=condition=Established', ...files, '--timeout=30s');
}
