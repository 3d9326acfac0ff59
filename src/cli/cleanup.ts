import { secretNames } from '../cluster/certificates.ts';
import { hasStatus } from '../cluster/cluster-error.ts';
import { leaseName } from '../cluster/leader-tasks.ts';
import { resourceTypes } from '../cluster/resource-path.ts';
import { removeWebhooks } from '../cluster/webhook-writer.ts';
import { type ClusterChoice, withCluster } from './cluster-command.ts';
import type { ExitCode, Io } from './io.ts';

export interface CleanupOptions extends ClusterChoice {
  readonly namespace: string;
  readonly all?: boolean;
}

/** Removes webhook configurations first: whatever happens then, nobody is sent to a server that is not there. */
export function cleanup(options: CleanupOptions, io: Io): Promise<ExitCode> {
  const { namespace, all } = options;
  return withCluster(options, io, async (client) => {
    const removed = (await removeWebhooks(client)).map((name) => `webhook configuration ${name}`);
    const rest = [
      ['lease', resourceTypes.leases, leaseName] as const,
      ...(all
        ? Object.values(secretNames).map((name) => ['secret', resourceTypes.secrets, name] as const)
        : []),
    ];
    for (const [what, type, name] of rest) {
      try {
        await client.delete(type, { namespace, name });
        removed.push(`${what} ${namespace}/${name}`);
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
      }
    }
    await io.stdout.write(
      removed.length === 0 ? 'nothing to remove\n' : removed.map((line) => `removed ${line}\n`).join(''),
    );
    return 0;
  });
}
