import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Log } from './log.ts';

/** A request that is answered with an error status, and the reason for the caller. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly statusCode: number;
  readonly retryAfterSeconds: number | undefined;
  constructor(
    statusCode: number,
    message: string,
    { retryAfterSeconds }: { readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message);
    this.statusCode = statusCode;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Why a review is shed. */
export type ShedReason = 'queue' | 'memory' | 'deadline';

const shedMessages: Readonly<Record<ShedReason, string>> = {
  queue: 'the server is overloaded: too many reviews are waiting',
  memory: 'the server is overloaded: too many requests are in flight',
  deadline: 'the server is overloaded: the time for the answer has passed',
};

/** A review that cannot be answered in time. Whoever throws it away also counts and logs it. */
export class Overloaded extends HttpError {
  readonly reason: ShedReason;
  constructor(reason: ShedReason, retryAfterSeconds?: number) {
    super(503, shedMessages[reason], { retryAfterSeconds });
    this.reason = reason;
  }
}

export function notFound(): HttpError {
  return new HttpError(404, 'there is nothing here');
}

/** Reasons for the errors that fastify raises itself. */
const frameworkReasons: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the content type must be application/json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is too large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'the body is empty',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the length of the body differs from its Content-Length',
  FST_ERR_BAD_URL: 'the path is not valid',
};

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string };
}

/** Logs an error and returns its answer: the reason for an error of the caller, no details of an internal error. */
function errorAnswer(error: Error, path: string, request: IncomingMessage, log: Log): ErrorAnswer {
  const { status, reason } = statusOf(error, path, log);
  const headers: Record<string, string> = {};
  // The caller may still be sending a body that nobody reads.
  if (!request.complete) headers['connection'] = 'close';
  if (error instanceof HttpError && error.retryAfterSeconds !== undefined)
    headers['retry-after'] = String(error.retryAfterSeconds);
  return { status, headers, body: { error: reason } };
}

function statusOf(
  error: Error,
  path: string,
  log: Log,
): { readonly status: number; readonly reason: string } {
  const stated = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  const status = stated >= 400 && stated < 600 ? stated : 500;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (status >= 500 && !(error instanceof HttpError)) {
    log.error({ path, error: error.name, code, stack: framesOf(error) }, 'internal error');
    return { status: 500, reason: 'internal error' };
  }
  const reason =
    error instanceof HttpError ? error.message : (frameworkReasons[code] ?? 'the request is not valid');
  if (!(error instanceof Overloaded)) log.warn({ path, status, reason }, 'request refused');
  return { status, reason };
}

/** Answers with an error through fastify. */
export function sendError(error: Error, path: string, reply: FastifyReply, log: Log): FastifyReply {
  const { status, headers, body } = errorAnswer(error, path, reply.request.raw, log);
  return reply.code(status).headers(headers).send(body);
}

/** Answers with an error without fastify. Returns the status. */
export function writeError(
  error: Error,
  {
    path,
    request,
    response,
    log,
  }: {
    readonly path: string;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly log: Log;
  },
): number {
  const { status, headers, body } = errorAnswer(error, path, request, log);
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
  return status;
}

/** The stack frames without the message, which may quote values. */
function framesOf(error: Error): readonly string[] {
  return (error.stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 8);
}
