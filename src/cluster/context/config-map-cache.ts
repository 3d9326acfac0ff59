import type { DataAnswer } from '../../engine/context/data-source.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus, messageOf, readFailure } from '../api/cluster-error.ts';
import { type Informer, startInformer } from '../api/informer.ts';
import { resourceTypes } from '../api/resource-path.ts';

export interface ConfigMapCache {
  read(
    namespace: string,
    name: string,
    limit: { readonly timeoutMs: number },
  ): DataAnswer | Promise<DataAnswer>;
  stop(): Promise<void>;
}

interface Followed {
  readonly informer: Informer;
  usedAt: number;
}

const maximumFollowed = 200;
const idleMs = 10 * 60_000;

/** Watches each ConfigMap that a policy has read, until no policy reads it any more. */
export function createConfigMapCache(client: ApiClient): ConfigMapCache {
  const followed = new Map<string, Followed>();
  let stopped = false;

  function follow(key: string, namespace: string, name: string): void {
    if (stopped || followed.has(key)) return;
    if (followed.size >= maximumFollowed) letGo(leastUsed());
    const informer = startInformer({
      client,
      type: resourceTypes.configMaps,
      kind: 'ConfigMap',
      select: { namespace, fieldSelector: `metadata.name=${name}` },
    });
    followed.set(key, { informer, usedAt: performance.now() });
  }

  function leastUsed(): string | undefined {
    let oldest: [string, Followed] | undefined;
    for (const entry of followed)
      if (oldest === undefined || entry[1].usedAt < oldest[1].usedAt) oldest = entry;
    return oldest?.[0];
  }

  function letGo(key: string | undefined): void {
    const entry = key === undefined ? undefined : followed.get(key);
    if (key === undefined || entry === undefined) return;
    followed.delete(key);
    void entry.informer.stop();
  }

  async function fetch(namespace: string, name: string, timeoutMs: number): Promise<DataAnswer> {
    try {
      const value = await client.get(resourceTypes.configMaps, { namespace, name }, { timeoutMs });
      return { found: true, value };
    } catch (error) {
      const failure = hasStatus(error, 404) ? 'does not exist' : `cannot be read: ${messageOf(error)}`;
      const reason = `the ConfigMap ${readFailure(error)}`;
      return { found: false, error: `ConfigMap ${namespace}/${name} ${failure}`, reason };
    }
  }

  const sweep = setInterval(() => {
    for (const [key, { usedAt }] of followed) if (performance.now() - usedAt > idleMs) letGo(key);
  }, 60_000);
  sweep.unref();

  return {
    read(namespace, name, { timeoutMs }) {
      const key = `${namespace}/${name}`;
      const entry = followed.get(key);
      if (entry !== undefined) entry.usedAt = performance.now();
      const object = entry?.informer.get(key);
      if (object !== undefined) return { found: true, value: object };
      if (entry?.informer.hasSynced())
        return {
          found: false,
          error: `ConfigMap ${key} does not exist`,
          reason: 'the ConfigMap does not exist',
        };
      follow(key, namespace, name);
      return fetch(namespace, name, timeoutMs);
    },
    async stop() {
      stopped = true;
      clearInterval(sweep);
      await Promise.all([...followed.values()].map(({ informer }) => informer.stop()));
    },
  };
}
