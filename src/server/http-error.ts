import type { FastifyReply } from 'fastify';
import type { Log } from './reviews/review-log.ts';

/** A request that cannot be answered, and the reason to give. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Reasons for what the HTTP framework refuses by itself. */
const reasons: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the content type must be application/json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is too large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'the body is empty',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as its header says',
  FST_ERR_BAD_URL: 'the path cannot be read',
};

/** What is answered to a request that was refused. */
export interface RefusalAnswer {
  readonly status: number;
  readonly body: { readonly error: string };
}

/** A reason for what the caller did wrong; for faults of our own only that there was one, and the rest in the log. */
export function refusalAnswer(error: Error, url: string, log: Log): RefusalAnswer {
  const stated = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  const status = stated >= 400 && stated < 600 ? stated : 500;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const path = url.split('?', 1)[0];
  if (status >= 500) {
    log.error({ path, error: error.name, code, stack: framesOf(error) }, 'internal error');
    return { status: 500, body: { error: 'internal error' } };
  }
  const reason = error instanceof Refusal ? error.message : (reasons[code] ?? 'the request cannot be read');
  log.warn({ path, status, reason }, 'refused');
  return { status, body: { error: reason } };
}

export function refuse(
  error: Error,
  request: { readonly url: string },
  reply: FastifyReply,
  log: Log,
): FastifyReply {
  const { status, body } = refusalAnswer(error, request.url, log);
  return reply.code(status).send(body);
}

/** Where an error came from, without its message: that may quote values. */
function framesOf(error: Error): readonly string[] {
  return (error.stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 8);
}
