// What the commands cost: `apply` over many objects, and the start of the program.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/setup.mjs';
import { measureCommand, measureRoundTrip, measureStart } from './command.mjs';
import { median } from './measure.mjs';

const counts = [5_000, 50_000];
/** Seconds and megabytes that 5,000 objects may take. */
const bars = { 5000: { seconds: { value: 3 }, megabytes: { value: 400 } } };

export async function benchApply(scratch, { figure }) {
  const { writeBulk } = await import('./make-bulk.mjs');
  const policies = join(root, 'bench', 'data', 'policies-cli');
  for (const count of counts) {
    const input = join(scratch, `bulk-${count}.yaml`);
    const output = join(scratch, `bulk-${count}-out.yaml`);
    writeBulk(input, count);
    const floor = await measureRoundTrip(input, output);
    const { milliseconds, peakMegabytes } = await measureCommand(
      ['apply', policies, '-r', input, '-o', 'yaml'],
      output,
    );
    const printed = readFileSync(output, 'utf8').match(/^kind: /gm)?.length ?? 0;
    if (printed !== count) throw new Error(`${printed} objects were printed, not ${count}`);
    const name = `apply to ${count.toLocaleString('en-US')} objects (${Math.round(statSync(input).size / 1e6)} MB)`;
    const to = 'reading and writing the YAML by js-yaml';
    figure('Commands', name, milliseconds / 1000, 's', {
      ratio: milliseconds / floor.milliseconds,
      to,
      bar: bars[count]?.seconds,
    });
    figure('Commands', `${name}: peak memory`, peakMegabytes, 'MB', {
      ratio: peakMegabytes / floor.peakMegabytes,
      to,
      bar: bars[count]?.megabytes,
    });
  }
}

export async function benchStart({ figure }) {
  const bare = median(await measureStart(['--eval', '0'], 11));
  const start = median(await measureStart([join(root, 'bin', 'kymera'), '--version'], 11));
  figure('Commands', 'kymera --version', start, 'ms', {
    ratio: start / bare,
    to: 'node alone',
    bar: { value: 150 },
  });
}
