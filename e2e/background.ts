import type { JsonObject } from '../src/json/value.ts';
import {
  type BackgroundProcess,
  type BackgroundProcessOptions,
  startBackgroundProcess,
} from './background-process.ts';
import { type ClusterServer, type ClusterServerOptions, startClusterServer } from './cluster-server.ts';
import { grant, hasRight, ownNamespace, revoke } from './installation.ts';
import { createKubectl, type Kubectl, type KubernetesObject } from './kubectl.ts';
import type { Settings } from './settings.ts';
import { waitFor } from './wait-for.ts';

export interface Background {
  readonly server: ClusterServer;
  readonly worker: BackgroundProcess;
  /** kubectl in the namespace of UpdateRequests. */
  readonly own: Kubectl;
  updateRequests(): Promise<readonly KubernetesObject[]>;
  /** Resolves when no UpdateRequest is pending. */
  settled(seconds?: number): Promise<void>;
  uninstall(): Promise<void>;
}

export interface BackgroundOptions extends BackgroundProcessOptions {
  readonly server?: ClusterServerOptions;
  /** Further permissions of the background controller. */
  readonly rules?: readonly JsonObject[];
}

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const usualRules: readonly JsonObject[] = [
  { apiGroups: [''], resources: ['configmaps', 'secrets', 'namespaces', 'pods', 'services'], verbs: all },
  { apiGroups: ['apps'], resources: ['deployments', 'deployments/scale'], verbs: all },
];

/** A server that accepts triggers and a background controller, with the permissions of the chart and those that the spec grants. */
export async function startInBackground(
  settings: Settings,
  options: BackgroundOptions = {},
): Promise<Background> {
  const own = createKubectl(settings, ownNamespace);
  const server = await startClusterServer(settings, options.server ?? {});
  await grant(own, 'background', 'e2e-usual', options.rules ?? usualRules);
  await hasRight(own, 'background', 'patch', 'secrets');
  const worker = await startBackgroundProcess(settings, options);
  const updateRequests = () => own.list('updaterequests');
  return {
    server,
    worker,
    own,
    updateRequests,
    async settled(seconds = 20) {
      await waitFor(
        async () =>
          (await updateRequests()).every(({ status }) => status?.state && status.state !== 'Pending'),
        { what: 'all UpdateRequests to be done', seconds },
      );
    },
    async uninstall() {
      await worker.stop();
      await own.run(['delete', 'updaterequests', '--all', '--wait=false']);
      await own.run(['delete', 'configmap', 'kymera-background', '--ignore-not-found']);
      await revoke(own, 'background', 'e2e-usual');
      await server.uninstall();
    },
  };
}

/** Polls until an object is as expected. */
export function becomes(
  kubectl: Kubectl,
  kind: string,
  name: string,
  accept: (object: KubernetesObject) => boolean,
): Promise<KubernetesObject> {
  return waitFor(
    async () => {
      const object = await kubectl.get(kind, name);
      return accept(object) ? object : undefined;
    },
    { what: `${kind} ${name} to be as expected` },
  );
}
