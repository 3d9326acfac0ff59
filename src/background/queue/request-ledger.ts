import type { NewUpdateRequest, UpdateRequest, UpdateStatus } from './update-request.ts';

/** Where triggers leave work. */
export interface RequestInbox {
  /** How many UpdateRequests there are, as far as is known. */
  count(): number;
  has(name: string): boolean;
  /** Writes a new one, or puts this request in place of the one of the same name. Rejects when that cannot be done in time. */
  put(request: NewUpdateRequest, timeoutMs?: number): Promise<void>;
}

/** The UpdateRequests, for whoever does the work. */
export interface RequestLedger extends RequestInbox {
  get(name: string): UpdateRequest | undefined;
  all(): readonly UpdateRequest[];
  /** Undefined when the request has changed or is gone since it was read: then nothing is written. */
  setStatus(request: UpdateRequest, status: UpdateStatus): Promise<UpdateRequest | undefined>;
  /** Removes the objects that the request holds, unless it has changed. */
  clearPayload(request: UpdateRequest): Promise<void>;
  /** Unless it has changed. */
  remove(request: UpdateRequest): Promise<void>;
}
