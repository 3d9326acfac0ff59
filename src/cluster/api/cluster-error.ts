import { isObject, type Json, member } from '../../json/value.ts';

/** The cluster cannot be reached, or its configuration is invalid. */
export class ClusterAccessError extends Error {
  override readonly name = 'ClusterAccessError';
}

/** The API server refused the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The reason of the Status object, such as `AlreadyExists`. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** Reads a Status object. Other bodies, for example of a proxy, are not quoted. */
export function apiErrorOf(status: number, request: string, body: Json | string): ApiError {
  if (typeof body !== 'string' && isObject(body)) {
    const reason = member(body, 'reason');
    const message = member(body, 'message');
    const text = typeof message === 'string' && message !== '' ? message : `${request} answered ${status}`;
    return new ApiError(status, typeof reason === 'string' ? reason : '', text);
  }
  return new ApiError(status, '', `${request} answered ${status}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
