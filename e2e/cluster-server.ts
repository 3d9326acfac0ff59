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
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { createService, isLoopback, outsideAddress, serviceName } from './service.ts';
import type { Settings } from './settings.ts';

export interface ClusterServer {
  /** Where its Lease, Secrets and settings are. */
  readonly namespace: string;
  /** Where its replicas listen. */
  readonly host: string;
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
  /** How the API server finds it; as the settings say by default. */
  readonly reach?: Settings['reach'];
  /** A port of this machine that leads to the API server; straight there by default. */
  readonly apiServerPort?: number;
  /** Connects to the API server through this proxy. */
  readonly proxy?: ConnectProxy;
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
  const reach = options.reach ?? settings.reach;
  const host = reach === 'service' && isLoopback(settings.host) ? outsideAddress() : settings.host;
  if (host === undefined) throw new Error('this machine has no address that a Service could lead to');
  const balancer = await startBalancer(host);
  const own = createKubectl(settings, ownNamespace);
  if (reach === 'service') {
    await createService(own, serviceName, { host, port: balancer.port });
    // From outside a cluster the name of a Service means nothing: its endpoints are looked up.
    await grant(own, 'admission', 'e2e-service', [
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list'] },
    ]);
  }
  const replicas: ServerProcess[] = [];
  const ports: number[] = [];
  const kubeconfig = await accountKubeconfig(settings, 'admission', folder);
  const { apiServerPort, proxy } = options;
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
  const addReplica = async () => {
    const logFile = join(folder, `replica-${replicas.length}.log`);
    const [port = 0] = await freePorts(1);
    // Before it is ready: it may ask for itself through the address that the API server will use.
    ports.push(port);
    balancer.setBackends(ports);
    const replica = await startServerProcess({ host, port, args, logFile });
    replicas.push(replica);
    return replica;
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
    kill: async (index) => replicas[index]?.kill(),
    output: (index) => replicas[index]?.output() ?? '',
    stop,
    uninstall: async () => {
      // Asked to end, the last replica takes seconds to see that it is the last; specs of that ask for it.
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
