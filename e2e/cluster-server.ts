import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBalancer } from './balancer.ts';
import { type ConnectProxy, throughProxy } from './connect-proxy.ts';
import { freePorts } from './control-plane/processes.ts';
import { installCustomResources } from './custom-resources.ts';
import {
  accountKubeconfig,
  accountUser,
  grant,
  installIdentities,
  ownNamespace,
  revoke,
  throughPort,
} from './installation.ts';
import { createKubectl } from './kubectl.ts';
import { kymera } from './kymera.ts';
import { type ServerProcess, type ServerProcessOptions, startServerProcess } from './server-process.ts';
import { createService, isLoopback, outsideAddress, serviceName } from './service.ts';
import type { Settings } from './settings.ts';
import { withTokenFile } from './token-kubeconfig.ts';
import { waitFor } from './wait-for.ts';

export interface ClusterServer {
  /** The namespace of its Lease, Secrets and settings. */
  readonly namespace: string;
  /** The address of its replicas. */
  readonly host: string;
  ports(): readonly number[];
  /** Kills a replica and waits until its connections are closed. */
  kill(replica: number): Promise<void>;
  /** How many connections of clients broke because this replica was killed. */
  brokenConnections(replica: number): number;
  addReplica(options?: ReplicaOptions): Promise<ServerProcess>;
  output(replica: number): string;
  /** Stops all replicas as Kubernetes does when a Deployment is scaled to zero. */
  stop(): Promise<void>;
  /** Kills all replicas and removes their objects, but not the policies. */
  uninstall(): Promise<void>;
}

export interface ReplicaOptions extends Pick<ServerProcessOptions, 'program' | 'environment'> {
  /** Besides those of all replicas. */
  readonly args?: readonly string[] | undefined;
}

export interface ClusterServerOptions {
  /** How the API server reaches it; by default as in the settings. */
  readonly reach?: Settings['reach'];
  /** A local port that forwards to the API server; by default a direct connection. */
  readonly apiServerPort?: number;
  /** Connects to the API server through this proxy. */
  readonly proxy?: ConnectProxy;
  readonly replicas?: number;
  /** Replicas read their token from this file, as from a mounted Secret. */
  readonly tokenFile?: string;
  readonly args?: readonly string[];
}

/**
 * Replicas of the server in cluster mode, behind one address for the API server. They run as the service account of the
 * chart, with its permissions.
 */
export async function startClusterServer(
  settings: Settings,
  options: ClusterServerOptions = {},
): Promise<ClusterServer> {
  const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'cluster-'));
  await installCustomResources(createKubectl(settings, 'default'));
  await installIdentities(settings);
  const reach = options.reach ?? settings.reach;
  const host = reach === 'service' && isLoopback(settings.host) ? outsideAddress() : settings.host;
  if (host === undefined) throw new Error('this machine has no address that a Service could lead to');
  const balancer = await startBalancer(host);
  const own = createKubectl(settings, ownNamespace);
  if (reach === 'service') {
    await createService(own, serviceName, { host, port: balancer.port });
    // Outside a cluster the name of a Service does not resolve, so the server looks up its endpoints.
    await grant(own, 'admission', 'e2e-service', [
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list'] },
    ]);
  }
  const replicas: ServerProcess[] = [];
  const ports: number[] = [];
  const kubeconfig = await accountKubeconfig(settings, 'admission', folder);
  const { apiServerPort, proxy } = options;
  if (options.tokenFile !== undefined) withTokenFile(kubeconfig, options.tokenFile);
  const serverKubeconfig =
    proxy !== undefined
      ? throughProxy(kubeconfig, proxy)
      : apiServerPort !== undefined
        ? throughPort(kubeconfig, apiServerPort)
        : kubeconfig;
  const args = [
    '--kubeconfig',
    serverKubeconfig,
    '--background-service-account',
    accountUser('background'),
    '--namespace',
    ownNamespace,
    ...(reach === 'service'
      ? ['--webhook-service', serviceName]
      : ['--webhook-url', `https://${host}:${balancer.port}`]),
    ...(options.args ?? []),
  ];
  const addReplica = async (own: ReplicaOptions = {}) => {
    const logFile = join(folder, `replica-${replicas.length}.log`);
    const [port = 0] = await freePorts(1);
    // Before it is ready, it calls itself at the address that the API server will use.
    ports.push(port);
    balancer.setBackends(ports);
    const replica = await startServerProcess({
      ...own,
      host,
      port,
      args: [...args, ...(own.args ?? [])],
      logFile,
    });
    replicas.push(replica);
    return replica;
  };
  const brokenBefore = new Map<number, number>();
  const brokenBy = (index: number) => balancer.connectionsTo(replicas[index]?.port ?? 0).broken;
  const kill = async (index: number) => {
    const replica = replicas[index];
    if (replica === undefined) return;
    brokenBefore.set(index, brokenBy(index));
    replica.kill();
    await waitFor(() => !replica.isRunning() && balancer.connectionsTo(replica.port).open === 0, {
      what: `replica ${index} and its connections to end`,
      everyMs: 20,
    });
  };
  const stop = async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  };
  for (let count = 0; count < (options.replicas ?? 1); count += 1) await addReplica();
  return {
    namespace: ownNamespace,
    host,
    ports: () => ports,
    addReplica,
    kill,
    brokenConnections: (index) => brokenBy(index) - (brokenBefore.get(index) ?? brokenBy(index)),
    output: (index) => replicas[index]?.output() ?? '',
    stop,
    uninstall: async () => {
      // Stopping properly takes seconds, because the last replica has to find out that it is the last.
      for (const replica of replicas) replica.kill();
      await balancer.close();
      if (reach === 'service') {
        await own.ok('delete', 'service', serviceName);
        await revoke(own, 'admission', 'e2e-service');
      }
      const hooks = await accountKubeconfig(settings, 'hooks', folder);
      await kymera('cleanup', '--all', '--namespace', ownNamespace, '--kubeconfig', hooks);
    },
  };
}
