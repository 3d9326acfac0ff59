// `npm run bench:background`: how long one policy update takes to change 2,000 objects of a real control plane, and what it asks of it.
import { runE2e } from '../e2e/run.mjs';
import { ensureBuilt } from '../scripts/setup.mjs';
import { report } from '../scripts/vitest-run.mjs';

await ensureBuilt();
process.exit(report([await runE2e([], { config: 'e2e/bench.config.ts', usesHelm: false })]));
