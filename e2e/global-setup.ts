import type { TestProject } from 'vitest/node';
import { type Binaries, startControlPlane, stopControlPlane } from './control-plane/start.ts';
import {
  givenBinaries,
  givenHost,
  givenKubeconfig,
  givenKubectl,
  givenReach,
  givenSkip,
} from './settings.ts';

/** Starts a control plane per worker: policies apply to a whole cluster, so concurrent spec files need separate ones. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const shared = { host: givenHost, reach: givenReach } as const;
  if (givenKubeconfig) {
    project.provide('settings', [{ ...shared, kubectl: givenKubectl, kubeconfig: givenKubeconfig }]);
    return undefined;
  }
  if (givenSkip || !givenBinaries) {
    project.provide('settings', { skip: givenSkip ?? 'run it with `npm run e2e`' });
    return undefined;
  }
  const binaries = JSON.parse(givenBinaries) as Binaries;
  const started = await Promise.allSettled(
    Array.from({ length: project.config.maxWorkers ?? 1 }, () => startControlPlane(binaries)),
  );
  const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const stop = (keepLogs: boolean) =>
    Promise.all(running.map(({ folder }) => stopControlPlane(folder, { keepLogs })));
  const failure = started.find((each) => each.status === 'rejected');
  if (failure !== undefined) {
    await stop(false);
    throw failure.reason;
  }
  project.provide(
    'settings',
    running.map(({ folder, kubectl, kubeconfig }) => ({
      ...shared,
      kubectl,
      kubeconfig,
      controlPlane: folder,
    })),
  );
  return async () => {
    await stop(project.vitest.state.getCountOfFailedTests() > 0);
  };
}
