// `npm test`: sets up what is missing, runs every test, the e2e suite too, and ends in the line `N passed, N failed[, N skipped]`.
// With arguments: vitest with these, over the tests that need no cluster.
import { controlPlaneBinaries } from '../e2e/control-plane/build.mjs';
import { runE2e } from '../e2e/run.mjs';
import { ensureBuilt } from './setup.mjs';
import { report, runVitest } from './vitest-run.mjs';

await ensureBuilt();
const args = process.argv.slice(2);
// Before anything else: some of the tests that are no e2e want an API server, too, and skip without one.
if (args.length === 0) await controlPlaneBinaries();
const summaries = [await runVitest('test', args)];
if (args.length === 0) summaries.push(await runE2e());
process.exit(report(summaries));
