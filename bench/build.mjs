// What `kymera build` costs, how it grows, and how it compares with a kustomize on the PATH.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureCommand, measureRoundTrip } from './command.mjs';
import { writeKustomization } from './make-kustomization.mjs';
import { exponent } from './measure.mjs';

const part = 'Build';
const counts = [500, 1000, 2000, 4000];
/** The real program grows with the square: beyond this it takes too long to wait for. */
const largestForKustomize = 1000;
const bars = { 2000: { seconds: { value: 2 }, megabytes: { value: 300 } } };

export function benchBuild(scratch, { figure }) {
  const points = [];
  for (const count of counts) {
    const folder = join(scratch, `kustomization-${count}`);
    writeKustomization(folder, count);
    const output = join(scratch, `kustomization-${count}.yaml`);
    const { milliseconds, peakMegabytes } = measureCommand(['build', folder], output);
    const printed = readFileSync(output, 'utf8').match(/^kind: /gm)?.length ?? 0;
    if (printed !== count + 1) throw new Error(`${printed} resources were printed, not ${count + 1}`);
    const floor = measureRoundTrip(output, join(scratch, 'round-trip.yaml'));
    points.push([count, milliseconds]);
    const name = `build ${count.toLocaleString('en-US')} resources, 100 patches and replacements`;
    const to = 'reading and writing the YAML by js-yaml';
    figure(part, name, milliseconds / 1000, 's', {
      ratio: milliseconds / floor.milliseconds,
      to,
      bar: bars[count]?.seconds,
      plot: 'build',
      series: 'kymera build',
      x: count,
    });
    figure(part, `${name}: peak memory`, peakMegabytes, 'MB', {
      ratio: peakMegabytes / floor.peakMegabytes,
      to,
      bar: bars[count]?.megabytes,
    });
    if (count <= largestForKustomize) compare(folder, output, count, milliseconds, figure);
  }
  const value = exponent(points);
  figure(part, 'exponent of growth', value, '', { ratio: value, to: 'linear growth', bar: { ratio: 1.05 } });
}

/** The same build by kustomize, when there is one: the ratio, and whether the bytes are the same. */
function compare(folder, output, count, milliseconds, figure) {
  const startedAt = performance.now();
  const real = spawnSync('kustomize', ['build', folder], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (real.error !== undefined) return;
  const taken = performance.now() - startedAt;
  if (real.status !== 0) throw new Error(`kustomize ended with ${real.status}: ${real.stderr}`);
  if (real.stdout !== readFileSync(output, 'utf8')) throw new Error('kustomize printed something else');
  figure(part, `kustomize, ${count.toLocaleString('en-US')} resources, the same bytes`, taken / 1000, 's', {
    ratio: taken / milliseconds,
    to: 'kymera build',
    more: true,
    plot: 'build',
    series: 'kustomize build',
    x: count,
  });
}
