import type { NewUpdateRequest, UpdateRequest, UpdateStatus } from './update-request.ts';

/** Takes new UpdateRequests. */
export interface RequestInbox {
  /** The number of UpdateRequests in the local cache. */
  count(): number;
  has(name: string): boolean;
  /** Creates the request, or replaces the one with the same name. Rejects if that does not succeed in time. */
  put(request: NewUpdateRequest, timeoutMs?: number): Promise<void>;
}

/** The UpdateRequests, for the controller. */
export interface RequestLedger extends RequestInbox {
  get(name: string): UpdateRequest | undefined;
  all(): readonly UpdateRequest[];
  /** Undefined, and nothing is written, if the request was changed or deleted since it was read. */
  setStatus(request: UpdateRequest, status: UpdateStatus): Promise<UpdateRequest | undefined>;
  /** Removes the objects from the request, unless it has changed. */
  clearPayload(request: UpdateRequest): Promise<void>;
  /** Deletes the request, unless it has changed. */
  remove(request: UpdateRequest): Promise<void>;
}
