// `npm run e2e`: the specs against a real control plane, which is found, built or, where neither can be, skipped with the reason.
import { ensureBuilt, isMain } from '../scripts/setup.mjs';
import { report, runVitest } from '../scripts/vitest-run.mjs';
import { controlPlaneBinaries } from './control-plane/build.mjs';
import { helmProgram } from './helm/build.mjs';

export async function runE2e(args = [], config = 'e2e/vitest.config.ts') {
  const given = process.env.KYMERA_E2E_KUBECONFIG ? { binaries: undefined } : await controlPlaneBinaries();
  const environment = given.missing
    ? { KYMERA_E2E_SKIP: given.missing }
    : given.binaries
      ? { KYMERA_E2E_BINARIES: JSON.stringify(given.binaries) }
      : {};
  const helm = given.missing ? {} : await helmProgram();
  return runVitest('e2e', ['--config', config, ...args], {
    ...environment,
    ...(helm.path ? { KYMERA_E2E_HELM: helm.path } : {}),
    ...(helm.missing ? { KYMERA_E2E_HELM_SKIP: helm.missing } : {}),
  });
}

if (isMain(import.meta.url)) {
  await ensureBuilt();
  process.exit(report([await runE2e(process.argv.slice(2))]));
}
