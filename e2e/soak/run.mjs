// `npm run soak`: reviews at 80 % of the capacity for ten minutes while everything changes, then overload. Writes its part of
// docs/reliability.md, also when it is interrupted.
//   --minutes N   duration (default 10)
//   --share N     share of the capacity (default 0.8): less where other programs use the machine
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSection } from '../../scripts/page-section.mjs';
import { ensureBuilt, root } from '../../scripts/setup.mjs';
import { report } from '../../scripts/vitest-run.mjs';
import { runE2e } from '../run.mjs';
import { figuresOf } from './figures.mjs';
import { drawPart, promisesOf } from './page.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, share: { type: 'string', default: '0.8' } },
});
for (const [name, value] of Object.entries(values))
  if (!(Number(value) > 0)) throw new Error(`--${name} must be a positive number, not ${value}`);

await ensureBuilt();
const results = join(root, '.cache', 'soak.jsonl');
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(results, { force: true });
process.env.KYMERA_SOAK_MINUTES = values.minutes;
process.env.KYMERA_SOAK_SHARE = values.share;
process.env.KYMERA_SOAK_RESULTS = results;
// vitest is interrupted too. What was measured until then is written below.
process.on('SIGINT', () => undefined);
const code = report([await runE2e(['specs/soak', '--disable-console-intercept'])]);
if (!existsSync(results)) process.exit(code);
const lines = readFileSync(results, 'utf8').trim().split('\n');
const figures = figuresOf(lines.map((line) => JSON.parse(line)));
writeSection('docs/reliability.md', 'soak', drawPart(figures));
console.log('wrote docs/reliability.md');
const broken = promisesOf(figures).filter(({ isKept }) => !isKept);
for (const { promise, measured } of broken) console.log(`not kept: ${promise} ${measured}`);
process.exit(code === 0 && broken.length > 0 ? 1 : code);
