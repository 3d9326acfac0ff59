// What `kymera build` costs, how it grows, and how it compares with a kustomize on the PATH.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureCommand } from './command.mjs';
import { writeKustomization } from './make-kustomization.mjs';

const counts = [500, 1000, 2000, 4000];
/** The real program grows with the square: beyond this it takes too long to wait for. */
const largestForKustomize = 1000;

export function benchBuild(scratch, report) {
  const seconds = new Map();
  for (const count of counts) {
    const folder = join(scratch, `kustomization-${count}`);
    writeKustomization(folder, count);
    const output = join(scratch, `kustomization-${count}.yaml`);
    const { milliseconds, peakMegabytes } = measureCommand(['build', folder], {
      output,
      usage: join(scratch, 'usage.json'),
    });
    const printed = readFileSync(output, 'utf8').match(/^kind: /gm)?.length ?? 0;
    if (printed !== count + 1) throw new Error(`${printed} resources were printed, not ${count + 1}`);
    seconds.set(count, milliseconds / 1000);
    const isBar = count === 2000;
    report(
      `build ${count} resources, 100 patches and replacements`,
      milliseconds / 1000,
      's',
      isBar ? 2 : undefined,
    );
    report('  its peak memory', peakMegabytes, 'MB', isBar ? 300 : undefined);
    if (count <= largestForKustomize) compare(folder, output, milliseconds, report);
  }
  const growth = seconds.get(4000) / seconds.get(500);
  report('  4000 resources to 500 (linear is 8)', growth, '×', 8.5);
}

/** The same build by kustomize, when there is one: the ratio, and whether the bytes are the same. */
function compare(folder, output, milliseconds, report) {
  const startedAt = performance.now();
  const real = spawnSync('kustomize', ['build', folder], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (real.error !== undefined) return;
  const ratio = (performance.now() - startedAt) / milliseconds;
  if (real.status !== 0) throw new Error(`kustomize ended with ${real.status}: ${real.stderr}`);
  if (real.stdout !== readFileSync(output, 'utf8')) throw new Error('kustomize printed something else');
  report('  kustomize on the PATH takes, the same bytes', ratio, '×');
}
