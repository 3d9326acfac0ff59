import { accessSync, constants, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Binaries, startControlPlane, stopControlPlane } from '../../e2e/control-plane/start.ts';

const names = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;

/** Finds the binaries that the end-to-end suite has built. */
export function findBinaries(): Binaries | undefined {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folders = [
    process.env['KUBEBUILDER_ASSETS'],
    join(cache, 'kymera', 'control-plane', kubernetesVersion()),
  ];
  const found = names.map((name) =>
    folders.flatMap((folder) => (folder ? [join(folder, name)] : [])).find(isExecutable),
  );
  if (found.some((path) => path === undefined)) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, found[index] ?? ''])) as Binaries;
}

/** The version that the end-to-end suite builds; its cache has the same name. */
function kubernetesVersion(): string {
  const module = readFileSync(new URL('../../e2e/control-plane/go.mod', import.meta.url), 'utf8');
  return /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(module)?.[1] ?? '';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const skipReason = 'control plane binaries are missing: npm run e2e builds them';

export { startControlPlane, stopControlPlane };
