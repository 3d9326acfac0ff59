// What `kymera build` costs, how it grows, and how it compares with a kustomize on the PATH.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureCommand, measureProgram, measureRoundTrip } from './command.mjs';
import { writeKustomization } from './make-kustomization.mjs';
import { exponent } from './measure.mjs';

const part = 'Build';
const counts = [500, 1000, 2000, 4000];
/** The real program grows with the square: beyond this it takes too long to wait for. */
const largestForKustomize = 1000;
const bars = { 2000: { seconds: { value: 2 }, megabytes: { value: 300 } } };

export async function benchBuild(scratch, { figure }) {
  const points = [];
  for (const count of counts) {
    const folder = join(scratch, `kustomization-${count}`);
    writeKustomization(folder, count);
    const output = join(scratch, `kustomization-${count}.yaml`);
    const { milliseconds, peakMegabytes } = await measureCommand(['build', folder], output);
    const printed = readFileSync(output, 'utf8').match(/^kind: /gm)?.length ?? 0;
    if (printed !== count + 1) throw new Error(`${printed} resources were printed, not ${count + 1}`);
    const floor = await measureRoundTrip(output, join(scratch, 'round-trip.yaml'));
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
    if (count <= largestForKustomize) await compare(folder, output, count, milliseconds, figure);
  }
  const value = exponent(points);
  figure(part, 'exponent of growth', value, '', { ratio: value, to: 'linear growth', bar: { ratio: 1.05 } });
}

/** The same build by kustomize, when there is one: the ratio, and whether the bytes are the same. */
async function compare(folder, output, count, milliseconds, figure) {
  const other = `${output}.kustomize`;
  const taken = await measureProgram('kustomize', ['build', folder], other);
  if (taken === undefined) {
    if (count === counts[0]) console.log('  kustomize is not on the PATH: not compared');
    return;
  }
  if (readFileSync(other, 'utf8') !== readFileSync(output, 'utf8'))
    throw new Error('kustomize printed something else');
  figure(part, `kustomize, ${count.toLocaleString('en-US')} resources, the same bytes`, taken / 1000, 's', {
    ratio: taken / milliseconds,
    to: 'kymera build',
    more: true,
    plot: 'build',
    series: 'kustomize build',
    x: count,
  });
}
