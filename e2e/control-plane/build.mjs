// `node e2e/control-plane/build.mjs`: the programs of a Kubernetes control plane, found or built, one line each.
// Looked for in KUBEBUILDER_ASSETS, then in a cache outside the repository; what is missing is built once with Go from go.mod here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildGoProgram, cachePath, isExecutable } from '../go-program.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const packages = {
  etcd: './etcd',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
};

/**
 * @returns {Promise<{ binaries: Record<string, string> } | { missing: string }>} paths by name, or why they cannot be had
 */
export async function controlPlaneBinaries(progress = console.error) {
  const binaries = {};
  const names = Object.keys(packages);
  for (const [index, name] of names.entries()) {
    const found = findBinary(name);
    if (found) {
      binaries[name] = found;
      continue;
    }
    const built = await buildBinary(name, (line) => progress(`[${index + 1}/${names.length}] ${line}`));
    if (built.problem) return { missing: built.problem };
    binaries[name] = built.path;
  }
  return { binaries };
}

export function kubernetesVersion() {
  const version = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1];
  if (!version) throw new Error('e2e/control-plane/go.mod does not require k8s.io/kubernetes');
  return version;
}

function findBinary(name) {
  const folders = [process.env.KUBEBUILDER_ASSETS, cacheFolder()].filter(Boolean);
  return folders.map((path) => join(path, name)).find(isExecutable);
}

function cacheFolder() {
  return cachePath('control-plane', kubernetesVersion());
}

function buildBinary(name, progress) {
  const path = join(cacheFolder(), name);
  return buildGoProgram({
    name,
    folder,
    packagePath: packages[name],
    path,
    linkerFlags: linkerFlags(),
    progress,
  });
}

/** By default the API server reports a version that clients cannot parse. */
function linkerFlags() {
  const version = kubernetesVersion();
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version);
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(variables).flatMap(([name, value]) =>
    ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].map(
      (path) => `-X ${path}.${name}=${value}`,
    ),
  );
  return ['-s', '-w', ...settings].join(' ');
}

if (process.argv[1] && pathToFileURL(process.argv[1]).href === import.meta.url) {
  const result = await controlPlaneBinaries();
  if (result.missing) console.error(result.missing);
  else for (const [name, path] of Object.entries(result.binaries)) console.log(`${name}\t${path}`);
  process.exitCode = result.missing ? 1 : 0;
}
