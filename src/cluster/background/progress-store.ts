import type { SeenPolicies, SeenPolicy } from '../../background/run/plan-sweeps.ts';
import { readTextMap } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { managedLabels } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';

/** The policies that the background controller has processed; survives restarts. */
export interface ProgressStore {
  load(): Promise<SeenPolicies>;
  save(seen: SeenPolicies): Promise<void>;
}

export const progressName = 'kymera-background';

/** A ConfigMap with one entry per policy. */
export function openProgressStore(client: ApiClient, namespace: string): ProgressStore {
  const type = resourceTypes.configMaps;
  async function read(): Promise<JsonObject | undefined> {
    try {
      return await client.get(type, { namespace, name: progressName });
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }
  return {
    async load() {
      const data = readTextMap((await read()) ?? {}, 'data');
      return new Map(Object.entries(data).flatMap(([uid, value]) => entry(uid, value)));
    },
    async save(seen) {
      const current = await read();
      const data = Object.fromEntries([...seen].map(([uid, policy]) => [uid, JSON.stringify(policy)]));
      const metadata = { name: progressName, namespace, labels: { ...managedLabels } };
      if (current !== undefined) await client.update(type, { ...current, data });
      else await client.create(type, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    },
  };
}

function entry(uid: string, value: string): [string, SeenPolicy][] {
  try {
    return [[uid, JSON.parse(value) as SeenPolicy]];
  } catch {
    // Edited by hand: treat the policy as new.
    return [];
  }
}
