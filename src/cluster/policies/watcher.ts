import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import type { Discovery } from '../api/discovery.ts';
import { type Informer, type InformerTiming, keyOf, startInformer } from '../api/informer.ts';
import type { ClusterLog } from '../settings/cluster-options.ts';
import type { PolicyCatalog } from './catalog.ts';
import { exceptionKinds, policyKinds, type WatchedKind } from './kinds.ts';
import { type PolicySelection, startPolicySelection } from './selection.ts';

export interface PolicyWatcherOptions {
  readonly client: ApiClient;
  readonly discovery: Discovery;
  readonly catalog: PolicyCatalog;
  readonly onChange: () => void;
  /** A label selector for `kyverno.io` policies. */
  readonly selector?: string | undefined;
  readonly log: ClusterLog;
  readonly onError?: ((kind: string, error: unknown) => void) | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

export interface PolicyWatcher {
  /** Resolves when all policies that exist at the start are loaded. */
  readonly synced: Promise<void>;
  /** Whether this installation applies a policy, judged by its API group and labels. */
  readonly selects: PolicySelection['selects'];
  readonly isKyvernoInstalled: PolicySelection['isKyvernoInstalled'];
  informers(): ReadonlyMap<string, Informer>;
  stop(): Promise<void>;
}

/** Watches the installed policy kinds, including kinds that are installed or removed later. */
export function startPolicyWatcher(options: PolicyWatcherOptions): PolicyWatcher {
  const { client, discovery, catalog, onChange, onError, timing, selector, log } = options;
  const running = new Map<string, Informer>();
  const nameOf = ({ type }: WatchedKind) => `${type.resource}.${type.group}`;

  const selection = startPolicySelection({
    client,
    selector,
    timing,
    log,
    onChange: () => reconsider(),
    onError: (error) => onError?.('mutatingwebhookconfigurations', error),
  });

  function put(watched: WatchedKind, key: string, object: JsonObject | undefined): void {
    if (exceptionKinds.includes(watched)) catalog.setException(watched, key, object);
    else catalog.set(watched, key, object !== undefined && selection.selects(object) ? object : undefined);
  }

  function reconsider(): void {
    for (const watched of policyKinds) {
      const informer = running.get(nameOf(watched));
      for (const object of informer?.values() ?? []) put(watched, keyOf(object), object);
    }
    onChange();
  }

  function follow(watched: WatchedKind): Informer {
    const { kind, type } = watched;
    return startInformer({
      client,
      type,
      kind,
      timing,
      onChange({ key, object }) {
        put(watched, key, object);
        onChange();
      },
      onError: (error) => onError?.(nameOf(watched), error),
    });
  }

  async function forget(watched: WatchedKind, informer: Informer): Promise<void> {
    await informer.stop();
    for (const object of [...informer.values()]) put(watched, keyOf(object), undefined);
    onChange();
  }

  function adapt(): void {
    const table = discovery.current();
    for (const watched of [...policyKinds, ...exceptionKinds]) {
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
    synced: Promise.all([selection.informer, ...running.values()].map(({ synced }) => synced)).then(() => {}),
    selects: selection.selects,
    isKyvernoInstalled: selection.isKyvernoInstalled,
    informers: () => new Map([['mutatingwebhookconfigurations', selection.informer], ...running]),
    async stop() {
      unsubscribe();
      await Promise.all([selection.informer, ...running.values()].map((informer) => informer.stop()));
    },
  };
}
