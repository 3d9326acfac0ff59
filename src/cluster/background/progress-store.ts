import type { SeenPolicies, SeenPolicy } from '../../background/run/plan-sweeps.ts';
import { readTextMap } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { managedLabels } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';

/** What the background remembers across restarts: which policies it has acted upon. */
export interface BackgroundState {
  load(): Promise<SeenPolicies>;
  save(seen: SeenPolicies): Promise<void>;
}

export const stateName = 'kymera-background';

/** Kept in a ConfigMap, one entry a policy. */
export function openState(client: ApiClient, namespace: string): BackgroundState {
  const type = resourceTypes.configMaps;
  async function read(): Promise<JsonObject | undefined> {
    try {
      return await client.get(type, { namespace, name: stateName });
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }
  return {
    async load() {
      const data = readTextMap((await read()) ?? {}, 'data');
      return new Map(Object.entries(data).flatMap(([uid, text]) => entry(uid, text)));
    },
    async save(seen) {
      const current = await read();
      const data = Object.fromEntries([...seen].map(([uid, policy]) => [uid, JSON.stringify(policy)]));
      const metadata = { name: stateName, namespace, labels: { ...managedLabels } };
      if (current !== undefined) await client.update(type, { ...current, data });
      else await client.create(type, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    },
  };
}

function entry(uid: string, text: string): [string, SeenPolicy][] {
  try {
    return [[uid, JSON.parse(text) as SeenPolicy]];
  } catch {
    // Somebody edited it: the policy counts as new.
    return [];
  }
}
