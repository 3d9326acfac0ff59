import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBalancer } from './balancer.ts';
import { freePorts } from './control-plane/processes.ts';
import { installCustomResources } from './custom-resources.ts';
import { accountKubeconfig, accountUser, installIdentities, ownNamespace } from './installation.ts';
import { createKubectl } from './kubectl.ts';
import { kymera } from './kymera.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import type { Settings } from './settings.ts';

export interface ClusterServer {
  /** Where its Lease, Secrets and settings are. */
  readonly namespace: string;
  ports(): readonly number[];
  /** Ends a replica at once, as when its machine is lost. */
  kill(replica: number): Promise<void>;
  addReplica(): Promise<ServerProcess>;
  output(replica: number): string;
  /** Ends all replicas as Kubernetes does when a Deployment is scaled to zero. */
  stop(): Promise<void>;
  /** Ends all replicas and removes what they made, but not the policies. */
  uninstall(): Promise<void>;
}

export interface ClusterServerOptions {
  readonly replicas?: number;
  readonly args?: readonly string[];
}

/**
 * Replicas of the server in cluster mode, behind one address at which the API server finds them. They run as the service account of
 * the chart, with its rights.
 */
export async function startClusterServer(
  settings: Settings,
  options: ClusterServerOptions = {},
): Promise<ClusterServer> {
  const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'cluster-'));
  await installCustomResources(createKubectl(settings, 'default'));
  await installIdentities(settings);
  const balancer = await startBalancer(settings.host);
  const replicas: ServerProcess[] = [];
  const ports: number[] = [];
  const args = [
    '--kubeconfig',
    await accountKubeconfig(settings, 'admission', folder),
    '--background-service-account',
    accountUser('background'),
    '--namespace',
    ownNamespace,
    '--webhook-url',
    `https://${settings.host}:${balancer.port}`,
    ...(options.args ?? []),
  ];
  const addReplica = async () => {
    const logFile = join(folder, `replica-${replicas.length}.log`);
    const [port = 0] = await freePorts(1);
    // Before it is ready: it may ask for itself through the address that the API server will use.
    ports.push(port);
    balancer.setBackends(ports);
    const replica = await startServerProcess({ host: settings.host, port, args, logFile });
    replicas.push(replica);
    return replica;
  };
  const stop = async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  };
  for (let count = 0; count < (options.replicas ?? 1); count += 1) await addReplica();
  return {
    namespace: ownNamespace,
    ports: () => ports,
    addReplica,
    kill: async (index) => replicas[index]?.kill(),
    output: (index) => replicas[index]?.output() ?? '',
    stop,
    uninstall: async () => {
      await stop();
      await balancer.close();
      const kubeconfig = await accountKubeconfig(settings, 'hooks', folder);
      await kymera('cleanup', '--all', '--namespace', ownNamespace, '--kubeconfig', kubeconfig);
    },
  };
}
