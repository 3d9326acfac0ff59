import type { RequestInbox, RequestLedger } from '../../background/queue/request-ledger.ts';
import {
  type NewUpdateRequest,
  readUpdateRequest,
  statusDocument,
  type UpdateRequest,
  updateRequestDocument,
  updateRequestName,
  withoutPayload,
} from '../../background/queue/update-request.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient, CallOptions } from '../api/client.ts';
import { ApiError, hasStatus } from '../api/cluster-error.ts';
import { type Informer, type InformerTiming, startInformer } from '../api/informer.ts';
import { resourceTypes } from '../api/resource-path.ts';

export interface UpdateRequestOptions {
  readonly client: ApiClient;
  /** Where they are. */
  readonly namespace: string;
  /** Called with the name of an UpdateRequest that was created, changed or deleted. */
  readonly onChange?: ((name: string) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

export interface FollowedInbox extends RequestInbox {
  stop(): Promise<void>;
}

export interface FollowedLedger extends RequestLedger {
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  stop(): Promise<void>;
}

const type = resourceTypes.updateRequests;
const kind = 'UpdateRequest';
const attempts = 5;

/** For replicas that only create UpdateRequests: watches metadata only. */
export function openInbox(options: UpdateRequestOptions): FollowedInbox {
  const informer = follow(options, { namespace: options.namespace, metadataOnly: true });
  return { ...inboxOver(options, informer), stop: () => informer.stop() };
}

/** For the replica that processes UpdateRequests. */
export function openLedger(options: UpdateRequestOptions): FollowedLedger {
  const { client, namespace } = options;
  const informer = follow(options, { namespace });
  const parsed = new WeakMap<JsonObject, UpdateRequest>();
  const parse = (document: JsonObject): UpdateRequest => {
    const known = parsed.get(document) ?? readUpdateRequest(document);
    parsed.set(document, known);
    return known;
  };
  const unlessChanged = async <T>(write: Promise<T>): Promise<T | undefined> => {
    try {
      return await write;
    } catch (error) {
      if (hasStatus(error, 404) || hasStatus(error, 409)) return undefined;
      throw error;
    }
  };
  return {
    ...inboxOver(options, informer),
    synced: informer.synced,
    hasSynced: () => informer.hasSynced(),
    get(name) {
      const document = informer.get(`${namespace}/${name}`);
      return document === undefined ? undefined : parse(document);
    },
    all: () => [...informer.values()].map(parse),
    async setStatus(request, status) {
      const document = { ...request.document, status: statusDocument(status) };
      const written = await unlessChanged(client.update(type, document, { subresource: 'status' }));
      return written === undefined ? undefined : readUpdateRequest(written);
    },
    async clearPayload({ document }) {
      const cleared = withoutPayload(document);
      if (cleared !== undefined) await unlessChanged(client.update(type, cleared));
    },
    async remove({ name, document }) {
      const preconditions = { resourceVersion: versionOf(document) };
      await unlessChanged(client.delete(type, { namespace, name }, { preconditions }));
    },
    stop: () => informer.stop(),
  };
}

function follow(
  { client, onChange, onError, timing }: UpdateRequestOptions,
  select: { readonly namespace: string; readonly metadataOnly?: boolean | undefined },
): Informer {
  return startInformer({
    client,
    type,
    kind,
    select,
    timing,
    onChange: ({ key }) => onChange?.(key.slice(key.indexOf('/') + 1)),
    onError: (error) => onError?.(error),
  });
}

function inboxOver({ client, namespace }: UpdateRequestOptions, informer: Informer): RequestInbox {
  return {
    count: () => informer.size(),
    has: (name) => informer.get(`${namespace}/${name}`) !== undefined,
    async put(request, timeoutMs) {
      const call = timeoutMs === undefined ? {} : { timeoutMs };
      const name = updateRequestName(request);
      let isThere = informer.get(`${namespace}/${name}`) !== undefined;
      for (let attempt = 1; ; attempt++) {
        try {
          if (isThere) await replace(request, call);
          else await client.create(type, updateRequestDocument(request, namespace), call);
          return;
        } catch (error) {
          // It was created, changed or deleted in the meantime.
          const isRace = hasStatus(error, 409) || (isThere && hasStatus(error, 404));
          if (!isRace || attempt === attempts) throw error;
          isThere = hasStatus(error, 409);
        }
      }
    },
  };

  async function replace(request: NewUpdateRequest, call: CallOptions): Promise<void> {
    const name = updateRequestName(request);
    const stored = await client.get(type, { namespace, name }, call);
    const known = readUpdateRequest(stored);
    if (known.requestToken === request.requestToken) return;
    const document = updateRequestDocument(request, namespace);
    const metadata = { ...readObject(document, 'metadata'), resourceVersion: versionOf(stored) };
    const replaced = await client.update(type, { ...document, metadata }, call);
    // The old result must not count as the result of the new request.
    if (known.status.state === 'Pending') return;
    try {
      await client.update(
        type,
        { ...replaced, status: { state: 'Pending' } },
        { ...call, subresource: 'status' },
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

function versionOf(object: JsonObject): string {
  return readText(readObject(object, 'metadata') ?? {}, 'resourceVersion') ?? '';
}
