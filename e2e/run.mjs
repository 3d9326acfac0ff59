// `npm run e2e`: the specs against a real control plane, which is found, built or, where neither can be, skipped with the reason.
import { ensureBuilt, isMain } from '../scripts/setup.mjs';
import { report, runVitest } from '../scripts/vitest-run.mjs';
import { controlPlaneBinaries } from './control-plane/build.mjs';
import { helmProgram } from './helm/build.mjs';

/** Specs mostly wait: this many at a time, each with its own control plane, keep two cores busy. */
const atOnce = 3;
const allSpecs = 'e2e/vitest.config.ts';

/** Returns the summary of its tests. Helm is built if it is missing, unless no test needs it. */
export async function runE2e(args = [], { config = allSpecs, usesHelm = true } = {}) {
  const given = process.env.KYMERA_E2E_KUBECONFIG ? { binaries: undefined } : await controlPlaneBinaries();
  const environment = given.missing
    ? { KYMERA_E2E_SKIP: given.missing }
    : given.binaries
      ? { KYMERA_E2E_BINARIES: JSON.stringify(given.binaries) }
      : {};
  const helm = given.missing || !usesHelm ? {} : await helmProgram();
  const programs = {
    ...environment,
    ...(helm.path ? { KYMERA_E2E_HELM: helm.path } : {}),
    ...(helm.missing ? { KYMERA_E2E_HELM_SKIP: helm.missing } : {}),
  };
  const vitestArgs = ['--config', config, ...args];
  const isWhole = args.length === 0 && config === allSpecs && given.binaries !== undefined;
  return runVitest('e2e', isWhole ? [...vitestArgs, `--maxWorkers=${atOnce}`] : vitestArgs, programs);
}

if (isMain(import.meta.url)) {
  await ensureBuilt();
  process.exit(report([await runE2e(process.argv.slice(2))]));
}
