// `npm test`: sets up what is missing, runs every test, and ends in the line `N passed, N failed[, N skipped]`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, root } from './setup.mjs';

await ensureBuilt();

const summaryFile = join(root, '.cache', 'test-summary.json');
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(summaryFile, { force: true });

const vitest = spawnSync(
  'node',
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=./scripts/test-summary-reporter.mjs',
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, KYMERA_TEST_SUMMARY: summaryFile },
  },
);

const summary = existsSync(summaryFile)
  ? JSON.parse(readFileSync(summaryFile, 'utf8'))
  : { passed: 0, failed: 0, skipped: [], errors: ['the test runner ended without a result'] };

for (const { name, reason } of summary.skipped) console.log(`skipped: ${name}: ${reason}`);
for (const error of summary.errors) console.log(`outside any test: ${error}`);

const failed = summary.failed + summary.errors.length;
const ok = failed === 0 && vitest.status === 0;
// Whatever made the runner fail without naming a test is a failure too.
const shownFailures = ok || failed > 0 ? failed : 1;
const skipped = summary.skipped.length > 0 ? `, ${summary.skipped.length} skipped` : '';
console.log(`${summary.passed} passed, ${shownFailures} failed${skipped}`);
process.exit(ok ? 0 : 1);
