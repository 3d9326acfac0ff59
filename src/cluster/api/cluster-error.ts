import { STATUS_CODES } from 'node:http';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json } from '../../json/value.ts';

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
  /** The reasons of its causes, such as `NamespaceTerminating`. */
  readonly causes: readonly string[];

  constructor(status: number, reason: string, message: string, causes: readonly string[] = []) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.causes = causes;
  }
}

export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** Reads a Status object. Other bodies, for example of a proxy, are not quoted. */
export function apiErrorOf(status: number, request: string, body: Json | string): ApiError {
  if (typeof body !== 'string' && isObject(body)) {
    const text = readText(body, 'message') || `${request} answered ${status}`;
    const causes = readObjects(readObject(body, 'details') ?? {}, 'causes');
    const reasons = causes.map((cause) => readText(cause, 'reason') ?? '');
    return new ApiError(status, readText(body, 'reason') ?? '', text, reasons);
  }
  return new ApiError(status, '', `${request} answered ${status}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `403 Forbidden`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** Why an object cannot be read, in words without its name. */
export function readFailure(error: unknown): string {
  if (hasStatus(error, 404)) return 'does not exist';
  const status =
    error instanceof ApiError
      ? `the API server answered ${statusText(error.status)}`
      : 'the API server did not answer';
  return `cannot be read: ${status}`;
}
