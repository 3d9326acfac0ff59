import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import type { Discovery } from '../api/discovery.ts';
import { type Informer, type InformerTiming, startInformer } from '../api/informer.ts';
import type { PolicyCatalog } from './catalog.ts';
import { startPolicyChoice } from './choice.ts';
import { exceptionKind, policyKinds, type WatchedKind } from './kinds.ts';

export interface PolicyWatcherOptions {
  readonly client: ApiClient;
  readonly discovery: Discovery;
  readonly catalog: PolicyCatalog;
  readonly onChange: () => void;
  /** Labels of the `kyverno.io` policies that are taken. */
  readonly selector?: string | undefined;
  /** Called when Kyverno is found beside this program, and when it is gone. */
  readonly onKyverno?: ((isThere: boolean) => void) | undefined;
  readonly onError?: ((kind: string, error: unknown) => void) | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

export interface PolicyWatcher {
  /** Resolves when all policies that were there at the start are loaded. */
  readonly synced: Promise<void>;
  /** Whether a policy is for this program, as far as its group and labels decide. */
  takes(policy: JsonObject): boolean;
  /** Kyverno runs in the cluster, too. */
  isBesideKyverno(): boolean;
  informers(): ReadonlyMap<string, Informer>;
  stop(): Promise<void>;
}

/** Follows the policy kinds that are installed, those too that are installed or removed later. */
export function startPolicyWatcher(options: PolicyWatcherOptions): PolicyWatcher {
  const { client, discovery, catalog, onChange, onError, timing, selector, onKyverno } = options;
  const running = new Map<string, Informer>();
  const nameOf = ({ type }: WatchedKind) => `${type.resource}.${type.group}`;

  const choice = startPolicyChoice({
    client,
    selector,
    timing,
    onChange() {
      if (choice.isKyvernoThere() || wasThere) onKyverno?.(choice.isKyvernoThere());
      wasThere = choice.isKyvernoThere();
      reconsider();
    },
    onError: (error) => onError?.('mutatingwebhookconfigurations', error),
  });
  let wasThere = false;

  function put(watched: WatchedKind, key: string, object: JsonObject | undefined): void {
    if (watched === exceptionKind) catalog.setException(key, object);
    else catalog.set(watched, key, object !== undefined && choice.takes(object) ? object : undefined);
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
    synced: Promise.all([choice.informer, ...running.values()].map(({ synced }) => synced)).then(() => {}),
    takes: (policy) => choice.takes(policy),
    isBesideKyverno: () => choice.isKyvernoThere(),
    informers: () => new Map([['mutatingwebhookconfigurations', choice.informer], ...running]),
    async stop() {
      unsubscribe();
      await Promise.all([choice.informer, ...running.values()].map((informer) => informer.stop()));
    },
  };
}

function keyOf(object: JsonObject): string {
  const { name, namespace } = object['metadata'] as { name: string; namespace?: string | undefined };
  return namespace === undefined ? name : `${namespace}/${name}`;
}
