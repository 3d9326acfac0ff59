// `npm run soak`: reviews at 80 % of the capacity for ten minutes while everything changes, then overload. Writes its part of
// docs/reliability.md, also when it is interrupted.
//   --minutes N   duration (default 10)
//   --share N     share of the capacity (default 0.8): less where other programs use the machine
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from '../../scripts/options.mjs';
import { writeSection } from '../../scripts/page-section.mjs';
import { ensureBuilt, root } from '../../scripts/setup.mjs';
import { report } from '../../scripts/vitest-run.mjs';
import { runE2e } from '../run.mjs';
import { figuresOf, readEntries } from './figures.mjs';

const values = readOptions({
  minutes: { is: 'a positive number', default: 10 },
  share: { is: 'a number above 0 and at most 1', default: 0.8 },
});

await ensureBuilt();
// It imports packages, which are installed now.
const { drawPart, promisesOf } = await import('./page.mjs');
const results = join(root, '.cache', 'soak.jsonl');
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(results, { force: true });
process.env.KYMERA_SOAK_MINUTES = String(values.minutes);
process.env.KYMERA_SOAK_SHARE = String(values.share);
process.env.KYMERA_SOAK_RESULTS = results;
const code = report([await runE2e(['specs/soak', '--disable-console-intercept'], { usesHelm: false })]);
const figures = existsSync(results) ? figuresOf(readEntries(readFileSync(results, 'utf8'))) : undefined;
if (figures?.soak === undefined) {
  console.log('nothing was measured; docs/reliability.md stays as it was');
  process.exit(code);
}
writeSection('docs/reliability.md', 'soak', drawPart(figures));
console.log('wrote docs/reliability.md');
const broken = promisesOf(figures).filter(({ isKept }) => !isKept);
for (const { promise, measured } of broken) console.log(`not kept: ${promise} ${measured}`);
process.exit(code === 0 && broken.length > 0 ? 1 : code);
