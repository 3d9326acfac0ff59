import { removeAdmissionPolicies } from '../../cluster/admission-policies/owned-objects.ts';
import type { ApiClient } from '../../cluster/api/client.ts';
import { hasStatus } from '../../cluster/api/cluster-error.ts';
import { resourceTypes } from '../../cluster/api/resource-path.ts';
import { progressName } from '../../cluster/background/progress-store.ts';
import { backgroundLeaseName } from '../../cluster/background/work.ts';
import { secretNames } from '../../cluster/certificates/certificates.ts';
import { pathTokenSecret } from '../../cluster/certificates/path-tokens.ts';
import { leaseName } from '../../cluster/leader/leader-tasks.ts';
import { scaleDown } from '../../cluster/leader/scale-down.ts';
import { blockagesName } from '../../cluster/policies/shared-blockages.ts';
import { removeWebhooks } from '../../cluster/webhooks/writer.ts';
import { visible } from '../../offline/output/visible.ts';
import type { ExitCode, Io } from '../io.ts';
import { type ClusterChoice, withCluster } from './with-cluster.ts';

export interface CleanupOptions extends ClusterChoice {
  readonly namespace: string;
  readonly all?: boolean | undefined;
  readonly scaleDown?: readonly string[] | undefined;
  readonly bestEffort?: boolean | undefined;
  /** Seconds. */
  readonly timeout?: number | undefined;
}

const leases = [leaseName, backgroundLeaseName];

/** Removes webhook configurations first, so that the API server never calls a server that is gone. */
export async function cleanup(options: CleanupOptions, io: Io): Promise<ExitCode> {
  const isBestEffort = options.bestEffort === true;
  const report = async (error: unknown) => {
    if (!isBestEffort) throw error;
    await io.stderr.write(`failed: ${visible(error instanceof Error ? error.message : String(error))}\n`);
  };
  const work = withCluster(options, io, async (client) => {
    const steps = [
      () => stopServers(client, options),
      () => removedWebhooks(client),
      () => removedAdmissionPolicies(client),
      ...traces(options).map((trace) => () => removeTrace(client, options.namespace, trace)),
    ];
    let count = 0;
    for (const step of steps) {
      const lines = await step().catch((error) => report(error).then(() => []));
      count += lines.length;
      for (const line of lines) await io.stdout.write(`${line}\n`);
    }
    if (count === 0) await io.stdout.write('nothing to remove\n');
    return 0;
  });
  return work.catch((error) => report(error).then(() => 0 as const));
}

async function stopServers(client: ApiClient, options: CleanupOptions): Promise<readonly string[]> {
  const { namespace, scaleDown: deployments, timeout = 60 } = options;
  if (deployments === undefined) return [];
  const held = await scaleDown({ client, namespace, deployments, leases, timeoutMs: timeout * 1000 });
  return [
    ...deployments.map((name) => `stopped deployment ${namespace}/${name}`),
    ...held.map(
      (name) => `lease ${namespace}/${name} is still held: the server may create its webhooks again`,
    ),
  ];
}

async function removedWebhooks(client: ApiClient): Promise<readonly string[]> {
  return (await removeWebhooks(client)).map((name) => `removed webhook configuration ${name}`);
}

async function removedAdmissionPolicies(client: ApiClient): Promise<readonly string[]> {
  return (await removeAdmissionPolicies(client)).map((name) => `removed generated ${name}`);
}

function traces({ all }: CleanupOptions) {
  return [
    ...leases.map((name) => ({ what: 'lease', type: resourceTypes.leases, name })),
    ...[progressName, blockagesName].map((name) => ({
      what: 'config map',
      type: resourceTypes.configMaps,
      name,
    })),
    ...(all === true ? [...Object.values(secretNames), pathTokenSecret] : []).map((name) => ({
      what: 'secret',
      type: resourceTypes.secrets,
      name,
    })),
  ];
}

async function removeTrace(
  client: ApiClient,
  namespace: string,
  { what, type, name }: ReturnType<typeof traces>[number],
): Promise<readonly string[]> {
  try {
    await client.delete(type, { namespace, name });
    return [`removed ${what} ${namespace}/${name}`];
  } catch (error) {
    if (hasStatus(error, 404)) return [];
    throw error;
  }
}
