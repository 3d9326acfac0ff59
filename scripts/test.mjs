// `npm test`: installs and builds if needed, then runs every test, including the e2e specs. The last line is `N passed, N failed[, N skipped]`.
// With arguments, it runs vitest with them, without the e2e specs.
import { controlPlaneBinaries } from '../e2e/control-plane/build.mjs';
import { runE2e } from '../e2e/run.mjs';
import { ensureChromium } from './chromium.mjs';
import { ensureBuilt, ensureWebBuilt } from './setup.mjs';
import { report, runVitest } from './vitest-run.mjs';

await ensureBuilt();
const args = process.argv.slice(2);
// Some tests outside e2e/ use an API server, too, and are skipped without one.
if (args.length === 0) {
  await ensureWebBuilt();
  ensureChromium();
  await controlPlaneBinaries();
}
const summaries = [await runVitest('test', args)];
if (args.length === 0 && !summaries[0].isInterrupted) summaries.push(await runE2e());
process.exit(report(summaries));
