import type { JsonObject } from '../../json/value.ts';
import type { Clock } from '../clock.ts';
import type { RequestLedger } from './request-ledger.ts';
import {
  readUpdateRequest,
  statusDocument,
  type UpdateRequest,
  updateRequestDocument,
  updateRequestName,
  withoutPayload,
} from './update-request.ts';

export interface MemoryLedger extends RequestLedger {
  /** Calls back with the name of every request that was created, changed or deleted. */
  onChange(listener: (name: string) => void): void;
}

/** UpdateRequests in memory, with resource versions and conflicts as in an API server. */
export function memoryLedger(clock: Clock): MemoryLedger {
  const stored = new Map<string, JsonObject>();
  const listeners: ((name: string) => void)[] = [];
  let version = 0;
  const versionOf = (document: JsonObject | undefined) =>
    (document?.['metadata'] as JsonObject | undefined)?.['resourceVersion'];
  const isSame = ({ name, document }: UpdateRequest) => versionOf(stored.get(name)) === versionOf(document);
  const set = (name: string, document: JsonObject): UpdateRequest => {
    version += 1;
    const metadata = { ...(document['metadata'] as JsonObject), resourceVersion: String(version) };
    stored.set(name, { ...document, metadata });
    for (const listener of listeners) listener(name);
    return readUpdateRequest(stored.get(name) ?? {});
  };
  const read = (document: JsonObject | undefined) =>
    document === undefined ? undefined : readUpdateRequest(document);
  return {
    onChange: (listener) => listeners.push(listener),
    count: () => stored.size,
    has: (name) => stored.has(name),
    get: (name) => read(stored.get(name)),
    all: () => [...stored.values()].map(readUpdateRequest),
    async put(request) {
      const name = updateRequestName(request);
      const known = stored.get(name);
      if (read(known)?.requestToken === request.requestToken) return;
      const document = updateRequestDocument(request, 'kymera');
      const metadata = {
        ...(document['metadata'] as JsonObject),
        creationTimestamp: new Date(clock.now()).toISOString(),
      };
      set(name, { ...document, metadata, ...(known === undefined ? {} : { status: known['status'] ?? {} }) });
    },
    async setStatus(request, status) {
      await Promise.resolve();
      if (!isSame(request)) return undefined;
      return set(request.name, { ...request.document, status: statusDocument(status) });
    },
    async clearPayload(request) {
      const cleared = withoutPayload(request.document);
      if (cleared !== undefined && isSame(request)) set(request.name, cleared);
    },
    async remove(request) {
      if (!isSame(request)) return;
      stored.delete(request.name);
      for (const listener of listeners) listener(request.name);
    },
  };
}
