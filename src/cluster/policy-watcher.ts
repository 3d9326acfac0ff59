import type { ApiClient } from './client.ts';
import type { Discovery } from './discovery.ts';
import { type Informer, type InformerTiming, startInformer } from './informer.ts';
import type { PolicyCatalog } from './policy-catalog.ts';
import { exceptionKind, policyKinds, type WatchedKind } from './policy-kinds.ts';

export interface PolicyWatcherOptions {
  readonly client: ApiClient;
  readonly discovery: Discovery;
  readonly catalog: PolicyCatalog;
  readonly onChange: () => void;
  readonly onError?: (kind: string, error: unknown) => void;
  readonly timing?: Partial<InformerTiming>;
}

export interface PolicyWatcher {
  /** Resolves when all policies that were there at the start are loaded. */
  readonly synced: Promise<void>;
  informers(): ReadonlyMap<string, Informer>;
  stop(): Promise<void>;
}

/** Follows the policy kinds that are installed, those too that are installed or removed later. */
export function startPolicyWatcher(options: PolicyWatcherOptions): PolicyWatcher {
  const { client, discovery, catalog, onChange, onError, timing } = options;
  const running = new Map<string, Informer>();
  const nameOf = ({ type }: WatchedKind) => `${type.resource}.${type.group}`;

  function follow(watched: WatchedKind): Informer {
    const { kind, type } = watched;
    return startInformer({
      client,
      type,
      kind,
      ...(timing === undefined ? {} : { timing }),
      onChange({ key, object }) {
        if (watched === exceptionKind) catalog.setException(key, object);
        else catalog.set(watched, key, object);
        onChange();
      },
      onError: (error) => onError?.(nameOf(watched), error),
    });
  }

  async function forget(watched: WatchedKind, informer: Informer): Promise<void> {
    await informer.stop();
    for (const object of [...informer.values()]) {
      const { name, namespace } = object['metadata'] as { name: string; namespace?: string };
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      if (watched === exceptionKind) catalog.setException(key, undefined);
      else catalog.set(watched, key, undefined);
    }
    onChange();
  }

  function adapt(): void {
    const table = discovery.current();
    for (const watched of [...policyKinds, exceptionKind]) {
      const name = nameOf(watched);
      const isInstalled = table.kindOfResource(watched.type) !== undefined;
      const informer = running.get(name);
      if (isInstalled && informer === undefined) running.set(name, follow(watched));
      if (!isInstalled && informer !== undefined) {
        running.delete(name);
        void forget(watched, informer);
      }
    }
  }

  adapt();
  const unsubscribe = discovery.onChange(adapt);
  return {
    synced: Promise.all([...running.values()].map(({ synced }) => synced)).then(() => {}),
    informers: () => running,
    async stop() {
      unsubscribe();
      await Promise.all([...running.values()].map((informer) => informer.stop()));
    },
  };
}
