import { generatedKinds } from '../../background/generate/downstream.ts';
import type { GeneratedObject } from '../../background/generate/generate.ts';
import { labelValue, originOf } from '../../background/generate/labels.ts';
import { mayCopy, sourceKinds } from '../../background/generate/sources.ts';
import { refOf } from '../../background/object-identity.ts';
import type { ObjectRef } from '../../background/ports.ts';
import type { NewUpdateRequest } from '../../background/queue/update-request.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledGenerateRule, CompiledPolicy } from '../../policy/compiled.ts';
import type { ApiClient } from '../api/client.ts';
import type { Discovery } from '../api/discovery.ts';
import type { ServedKind } from '../api/discovery-document.ts';
import { type Change, type Informer, type InformerTiming, startInformer } from '../api/informer.ts';
import { apiVersionOf } from '../api/resource-path.ts';

export interface FollowerOptions {
  readonly client: ApiClient;
  readonly discovery: Discovery;
  policies(): readonly CompiledPolicy[];
  put(request: NewUpdateRequest): Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Called when objects of a kind may not be watched and are listed periodically instead. */
  readonly onPoll?: ((kind: string, error: unknown) => void) | undefined;
  /** The interval of these lists. */
  readonly pollMs?: number | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

export interface Followers {
  policiesChanged(): void;
  /** Ignore our own writes and deletions. */
  wrote(made: GeneratedObject): void;
  stop(): Promise<void>;
}

interface Followed {
  readonly informer: Informer;
  /** Only changes after the first list count. */
  isSynced: boolean;
}

const generatedSelector = 'app.kubernetes.io/managed-by=kyverno,generate.kyverno.io/policy-name';
/** How long the response to a write may take after the watch has reported it. */
const patienceMs = 300;
const mostRemembered = 10_000;
/** How often objects are listed that may not be watched. */
export const pollIntervalMs = 20_000;

/** Watches the objects that synchronized rules have generated, and their clone sources, while this replica leads. */
export function followDownstream(options: FollowerOptions): Followers {
  const { client, discovery, policies, put, onError } = options;
  const followed = new Map<string, Followed>();
  const own = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();

  function adapt(): void {
    const wanted = new Map<string, { readonly served: ServedKind; readonly isSource: boolean }>();
    for (const rule of policies().flatMap(synchronized)) {
      for (const [kinds, isSource] of [
        [generatedKinds(rule), false],
        [sourceKinds(rule), true],
      ] as const) {
        for (const { apiVersion, kind } of kinds) {
          const served = servedKind(discovery, apiVersion, kind);
          if (served !== undefined)
            wanted.set(`${isSource} ${apiVersionOf(served)} ${served.kind}`, { served, isSource });
        }
      }
    }
    for (const [key, { served, isSource }] of wanted)
      if (!followed.has(key)) followed.set(key, follow(served, isSource));
    for (const [key, { informer }] of followed) {
      if (wanted.has(key)) continue;
      followed.delete(key);
      void informer.stop();
    }
  }

  function follow(served: ServedKind, isSource: boolean): Followed {
    const informer = startInformer({
      client,
      type: served,
      kind: served.kind,
      select: isSource ? { metadataOnly: true } : { metadataOnly: true, labelSelector: generatedSelector },
      onChange: (change) => {
        if (entry.isSynced) soon(() => (isSource ? sourceChanged(change) : downstreamChanged(change)));
      },
      onError,
      pollMs: options.pollMs ?? pollIntervalMs,
      onPoll: (error) => options.onPoll?.(served.kind, error),
      timing: options.timing,
    });
    const entry: Followed = { informer, isSynced: false };
    void informer.synced.then(() => {
      entry.isSynced = true;
    });
    return entry;
  }

  function soon(act: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, patienceMs);
    timers.add(timer);
  }

  const send = (request: NewUpdateRequest) => void put(request).catch(onError);

  /** Runs the rule when a generated object was changed or deleted. */
  function downstreamChanged({ object, previous }: Change): void {
    const changed = object ?? previous ?? {};
    if (own.has(deletionKey(changed))) return;
    if (object !== undefined && (previous === undefined || own.has(versionKey(object)))) return;
    const origin = originOf(changed);
    if (origin === undefined || origin.trigger.name === '') return;
    const policy = policies().find(({ key }) => key === origin.policy);
    const rule = policy && synchronized(policy).find(({ name }) => labelValue(name) === origin.rule);
    if (policy === undefined || rule === undefined) return;
    const { name, uid, resourceVersion } = metadataOf(changed);
    send({
      ...request(
        policy,
        rule,
        `${uid ?? name}/${resourceVersion}/${object === undefined ? 'deleted' : 'changed'}`,
      ),
      trigger: origin.trigger,
    });
  }

  /** Runs the rule when a clone source was changed or deleted. */
  function sourceChanged({ object, previous }: Change): void {
    const source = object ?? previous ?? {};
    const { resourceVersion } = metadataOf(source);
    const ref = refOf(source);
    for (const policy of policies()) {
      for (const rule of synchronized(policy).filter((each) => mayCopy(each, source))) {
        const base = request(policy, rule, `${ref.uid ?? ref.name}/${resourceVersion}`);
        if (object !== undefined) send(base);
        else
          send({
            ...base,
            requestToken: `${base.requestToken}/deleted`,
            trigger: { apiVersion: '', kind: ref.kind, namespace: '', name: '', uid: ref.uid ?? ref.name },
            admission: { removedSource: jsonOf(ref) },
          });
      }
    }
  }

  adapt();
  const unsubscribe = discovery.onChange(adapt);
  return {
    policiesChanged: adapt,
    wrote({ action, before, after }) {
      const key = after !== undefined ? versionKey(after) : action === 'deleted' && deletionKey(before ?? {});
      if (key === false) return;
      if (own.size >= mostRemembered) own.clear();
      own.add(key);
    },
    async stop() {
      unsubscribe();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([...followed.values()].map(({ informer }) => informer.stop()));
    },
  };
}

function request(policy: CompiledPolicy, rule: CompiledGenerateRule, requestToken: string): NewUpdateRequest {
  const trigger = { apiVersion: '', kind: '', namespace: '', name: '' };
  return { type: 'generate', policy: policy.key, rule: rule.name, cause: 'change', requestToken, trigger };
}

function synchronized({ generateRules }: CompiledPolicy): readonly CompiledGenerateRule[] {
  return generateRules.filter(({ synchronize }) => synchronize);
}

function servedKind(discovery: Discovery, apiVersion: string, kind: string): ServedKind | undefined {
  const slash = apiVersion.indexOf('/');
  const table = discovery.current();
  if (apiVersion === '') return table.resourceOf({ kind });
  return table.resourceOf({
    kind,
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
  });
}

function metadataOf(object: JsonObject) {
  const metadata = readObject(object, 'metadata') ?? {};
  return {
    name: readText(metadata, 'name') ?? '',
    uid: readText(metadata, 'uid'),
    resourceVersion: readText(metadata, 'resourceVersion') ?? '',
  };
}

function versionKey(object: JsonObject): string {
  const { uid, resourceVersion } = metadataOf(object);
  return `${uid ?? ''}@${resourceVersion}`;
}

/** Covers all later changes of an object that was deleted: finalizers may delay the end. */
function deletionKey(object: JsonObject): string {
  return `${metadataOf(object).uid ?? ''}@deleted`;
}

function jsonOf({ apiVersion, kind, namespace, name, uid = '' }: ObjectRef): JsonObject {
  return { apiVersion, kind, namespace, name, uid };
}
