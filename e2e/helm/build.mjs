// `node e2e/helm/build.mjs`: the path of a helm for the tests of the chart. That of HELM, else one on the path of major version 3, else one
// that is built once with Go from go.mod here and kept in a cache outside the repository.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildGoProgram, cachePath, isExecutable } from '../go-program.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** @returns {Promise<{ path: string } | { missing: string }>} */
export async function helmProgram(progress = console.error) {
  const version = helmVersion();
  const cached = cachePath('helm', version, 'helm');
  const found = [process.env.HELM, isExecutable(cached) ? cached : 'helm'].filter(Boolean).find(isHelm3);
  if (found) return { path: found };
  const built = await buildGoProgram({
    name: 'helm',
    folder,
    packagePath: 'helm.sh/helm/v3/cmd/helm',
    path: cached,
    linkerFlags: `-s -w -X helm.sh/helm/v3/internal/version.version=${version}`,
    progress,
  });
  return built.problem ? { missing: `neither HELM nor a helm on the path: ${built.problem}` } : built;
}

function helmVersion() {
  const version = /helm\.sh\/helm\/v3 (v\S+)/.exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1];
  if (!version) throw new Error('e2e/helm/go.mod does not require helm.sh/helm/v3');
  return version;
}

function isHelm3(command) {
  const { status, stdout } = spawnSync(command, ['version', '--short'], { encoding: 'utf8' });
  return status === 0 && stdout.startsWith('v3.');
}

if (process.argv[1] && pathToFileURL(process.argv[1]).href === import.meta.url) {
  const result = await helmProgram();
  console.log(result.missing ?? result.path);
  process.exitCode = result.missing ? 1 : 0;
}
