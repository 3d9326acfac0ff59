import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import type { Discovery, KindTable } from '../api/discovery.ts';
import { type Informer, type InformerTiming, keyOf, startInformer } from '../api/informer.ts';
import type { ResourceType } from '../api/resource-path.ts';
import type { ClusterLog } from '../settings/cluster-options.ts';
import type { PolicyCatalog } from './catalog.ts';
import { exceptionKinds, policyKinds, readVersions, servedType, type WatchedKind } from './kinds.ts';
import { createPacedChanges } from './paced-changes.ts';
import { type PolicySelection, startPolicySelection } from './selection.ts';
import { createTimeBudget, systemTimeBudget } from './time-budget.ts';

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
  const running = new Map<string, { readonly informer: Informer; readonly version: string }>();
  const reported = new Set<string>();
  const changes = createPacedChanges(createTimeBudget(systemTimeBudget));
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

  function putNow(watched: WatchedKind, key: string, object: JsonObject | undefined): void {
    changes.makeNow(`${nameOf(watched)} ${key}`, () => put(watched, key, object));
  }

  function reconsider(): void {
    for (const watched of policyKinds) {
      const informer = running.get(nameOf(watched))?.informer;
      for (const object of informer?.values() ?? []) putNow(watched, keyOf(object), object);
    }
    onChange();
  }

  function follow(watched: WatchedKind, type: ResourceType): Informer {
    const informer = startInformer({
      client,
      type,
      kind: watched.kind,
      timing,
      onChange({ key, object }) {
        const namespace = type.namespaced ? (key.split('/')[0] ?? '') : undefined;
        // All policies that exist at the start are loaded before the server is ready.
        if (namespace === undefined || object === undefined || !informer.hasSynced()) {
          putNow(watched, key, object);
          onChange();
        } else {
          changes.make(namespace, `${nameOf(watched)} ${key}`, () => {
            put(watched, key, object);
            onChange();
          });
        }
      },
      onError: (error) => onError?.(nameOf(watched), error),
    });
    return informer;
  }

  /** Removes the policies of a kind, or of a version of it, that is no longer served. */
  async function forget(watched: WatchedKind, informer: Informer, next?: Informer): Promise<void> {
    await Promise.all([informer.stop(), next?.synced]);
    for (const object of [...informer.values()]) {
      const key = keyOf(object);
      if (next?.get(key) === undefined) putNow(watched, key, undefined);
    }
    onChange();
  }

  function adapt(): void {
    const table = discovery.current();
    for (const watched of [...policyKinds, ...exceptionKinds]) {
      const name = nameOf(watched);
      const before = running.get(name);
      const type = servedType(watched, table, before?.version);
      if (type?.version === before?.version) {
        if (type === undefined) reportVersions(watched, table);
        continue;
      }
      const informer = type === undefined ? undefined : follow(watched, type);
      if (type === undefined || informer === undefined) running.delete(name);
      else running.set(name, { informer, version: type.version });
      if (before !== undefined) void forget(watched, before.informer, informer);
    }
  }

  function reportVersions(watched: WatchedKind, table: KindTable): void {
    const { group } = watched.type;
    const served = table.resourceOf({ group, kind: watched.kind });
    if (served === undefined || reported.has(nameOf(watched))) return;
    reported.add(nameOf(watched));
    const readable = readVersions(watched).join(', ');
    log.warn(
      { kind: nameOf(watched), served: served.version, readable },
      'policies of this kind are not in force: the CRD serves no version that Kymera reads; install the CRDs of the chart',
    );
  }

  const informersOf = () => [...running.values()].map(({ informer }) => informer);
  adapt();
  const unsubscribe = discovery.onChange(adapt);
  return {
    synced: Promise.all([selection.informer, ...informersOf()].map(({ synced }) => synced)).then(() => {}),
    selects: selection.selects,
    isKyvernoInstalled: selection.isKyvernoInstalled,
    informers: () =>
      new Map([
        ['mutatingwebhookconfigurations', selection.informer],
        ...[...running].map(([name, { informer }]) => [name, informer] as const),
      ]),
    async stop() {
      unsubscribe();
      changes.stop();
      await Promise.all([selection.informer, ...informersOf()].map((informer) => informer.stop()));
    },
  };
}
