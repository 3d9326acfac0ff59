// `npm run faults`: causes each fault on a real control plane and writes what was measured to docs/reliability.md.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installDebianPackage } from '../../scripts/debian-package.mjs';
import { readOptions } from '../../scripts/options.mjs';
import { writeSection } from '../../scripts/page-section.mjs';
import { ensureBuilt, root } from '../../scripts/setup.mjs';
import { report } from '../../scripts/vitest-run.mjs';
import { measuredOn } from '../measured-on.mjs';
import { runE2e } from '../run.mjs';

readOptions({});
await ensureBuilt();
if (!existsSync('/usr/bin/faketime')) installDebianPackage('faketime', 'the jumps of the clock');
const results = join(root, '.cache', 'faults.jsonl');
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(results, { force: true });
process.env.KYMERA_FAULTS = 'long';
process.env.KYMERA_FAULTS_RESULTS = results;
const code = report([await runE2e(['specs/faults', '--disable-console-intercept'], { usesHelm: false })]);
// Nothing is written after a failure or without a control plane.
if (code === 0 && existsSync(results)) {
  const rows = readFileSync(results, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  writeSection('docs/reliability.md', 'faults', table(rows));
  console.log('wrote docs/reliability.md');
}
process.exit(code);

function table(rows) {
  const seconds = (value) => (value === undefined ? '' : `${value.toFixed(1)} s`);
  const lines = rows.map(
    ({ name, promise, assertion, reviews, lost, recoverySeconds, note }) =>
      `| ${name} | ${promise} | ${assertion} | ${reviews === undefined ? '' : `${lost} of ${reviews}`} | ${seconds(recoverySeconds)} | ${note ?? ''} |`,
  );
  return [
    measuredOn(),
    '',
    '| fault | promise | assertion | lost reviews | recovery | |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
