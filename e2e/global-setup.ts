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

/** One control plane for all spec files. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (givenKubeconfig) {
    project.provide('settings', {
      kubectl: givenKubectl,
      kubeconfig: givenKubeconfig,
      host: givenHost,
      reach: givenReach,
    });
    return undefined;
  }
  if (givenSkip || !givenBinaries) {
    project.provide('settings', { skip: givenSkip ?? 'run it with `npm run e2e`' });
    return undefined;
  }
  const { folder, kubectl, kubeconfig } = await startControlPlane(JSON.parse(givenBinaries) as Binaries);
  project.provide('settings', {
    kubectl,
    kubeconfig,
    host: givenHost,
    reach: givenReach,
    controlPlane: folder,
  });
  return async () => {
    const failed = project.vitest.state.getCountOfFailedTests() > 0;
    await stopControlPlane(folder, { keepLogs: failed });
  };
}
