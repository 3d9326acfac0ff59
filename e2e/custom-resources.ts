import { fileURLToPath } from 'node:url';
import type { Kubectl } from './kubectl.ts';

const folder = fileURLToPath(new URL('../deploy/crds', import.meta.url));

/** Makes the policy kinds known, as an installation does; again is no harm. */
export async function installCustomResources(kubectl: Kubectl): Promise<void> {
  await kubectl.ok('apply', '--server-side', '--force-conflicts', '-f', folder);
  await kubectl.ok('wait', '--for=condition=Established', '-f', folder, '--timeout=30s');
}
