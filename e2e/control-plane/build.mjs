// `node e2e/control-plane/build.mjs`: the programs of a Kubernetes control plane, found or built, one line each.
// Looked for in KUBEBUILDER_ASSETS, then in a cache outside the repository; what is missing is built once with Go from go.mod here.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'kymera', 'control-plane', kubernetesVersion());
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function buildBinary(name, progress) {
  if (spawnSync('go', ['version'], { cwd: folder }).status !== 0) {
    return {
      problem: `${name} is neither in KUBEBUILDER_ASSETS nor in ${cacheFolder()}, and there is no Go to build it`,
    };
  }
  mkdirSync(cacheFolder(), { recursive: true });
  const path = join(cacheFolder(), name);
  // Renamed when complete: two suites may build at the same time, and a build may be interrupted.
  const partial = `${path}.${process.pid}`;
  const { status, lastLine } = await runGo(
    ['build', '-v', '-mod=readonly', '-trimpath', '-ldflags', linkerFlags(), '-o', partial, packages[name]],
    (compiled, seconds) => progress(`building ${name}: ${compiled} packages compiled, ${seconds} s`),
  );
  if (status !== 0) {
    rmSync(partial, { force: true });
    return { problem: `${name} cannot be built: go build ended with ${status}: ${lastLine}` };
  }
  renameSync(partial, path);
  return { path };
}

/** Without a version of its own the API server reports one that clients cannot parse. */
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

function runGo(args, progress) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const seconds = () => Math.round((performance.now() - startedAt) / 1000);
    const child = spawn('go', args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    let compiled = 0;
    let lastLine = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      const lines = text.split('\n').filter(Boolean);
      compiled += lines.length;
      lastLine = lines.at(-1) ?? lastLine;
    });
    progress(0, 0);
    const timer = setInterval(() => progress(compiled, seconds()), 15_000);
    const end = (status, reason) => {
      clearInterval(timer);
      progress(compiled, seconds());
      resolve({ status, lastLine: reason ?? lastLine });
    };
    child.on('error', (error) => end(-1, error.message));
    child.on('close', (status) => end(status));
  });
}

if (process.argv[1] && pathToFileURL(process.argv[1]).href === import.meta.url) {
  const result = await controlPlaneBinaries();
  if (result.missing) console.error(result.missing);
  else for (const [name, path] of Object.entries(result.binaries)) console.log(`${name}\t${path}`);
  process.exitCode = result.missing ? 1 : 0;
}
