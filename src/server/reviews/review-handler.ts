import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { MalformedReview } from '../../admission/review-request.ts';
import { type Steps, waitFor } from '../../engine/steps.ts';
import { parseJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { HttpError, notFound, Overloaded, type ShedReason, writeError } from '../http-error.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Body, BodyReader } from './body-reader.ts';
import { scanJson } from './json-scan.ts';
import { isAcceptedToken, type PathTokens } from './path-token.ts';
import { createTurns, type Turns } from './review-queue.ts';
import { createRouteTable, type ReviewRoute, type Webhooks } from './routes.ts';
import { createShedReport } from './shed-report.ts';

export interface ReviewHandlerOptions {
  readonly webhooks: Webhooks;
  /** Callers must present a client certificate that the TLS server has verified. */
  readonly needsCertificate: boolean;
  /** When given, paths start with a token; without an accepted token they do not exist. */
  readonly pathTokens?: PathTokens | undefined;
  readonly readBody: BodyReader;
  /** Called when an accepted caller closed the connection before it had the answer. */
  readonly onAbandoned?: (() => void) | undefined;
  readonly metrics: Pick<Metrics, 'countHttp' | 'countShed' | 'measureQueue'>;
  readonly log: Log;
  readonly turns?: Turns | undefined;
}

/** Answers a request to a path of a webhook, malformed ones included. Returns false for any other path. */
export type ReviewHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: ReviewRoute;
  readonly startedAt: number;
}

const retryAfterSeconds = 1;
/** Created once: an overloaded server has no time for stack traces. */
const overloaded = overloadedErrors();
/** Callers may come again. */
const overloadedForNow = overloadedErrors(retryAfterSeconds);
const contentType = 'application/json';
const answerType = 'application/json; charset=utf-8';
/** The label of paths that do not exist, or not for this caller. */
export const unknownPath = 'unknown';
/** Three times as deep as Go parses JSON, and so as any object in a cluster. */
const depthLimit = 32_768;
const tokenLimit = 1_000_000;
/** Memory of a parsed value. */
const bytesPerToken = 48;
/** Memory of a parsed small body, relative to its length. */
const smallBodyFactor = 8;

export function createReviewHandler(options: ReviewHandlerOptions): ReviewHandler {
  const { webhooks, pathTokens, readBody, onAbandoned, metrics, log } = options;
  const routeOf = createRouteTable(webhooks, pathTokens !== undefined);
  const turns = options.turns ?? createTurns();
  const reportShed = createShedReport(metrics, log);
  metrics.measureQueue(() => turns.queueLength);

  function receive(exchange: Exchange): void {
    try {
      const read = readBody(exchange.request);
      if (read instanceof Promise) {
        read.then(
          (body) => enqueue(exchange, body),
          (error: Error) => refuse(exchange, error),
        );
      } else enqueue(exchange, read);
    } catch (error) {
      refuse(exchange, error as Error);
    }
  }

  function enqueue(exchange: Exchange, body: Body): void {
    turns.add({
      steps: answer(exchange, body),
      isLarge: isLarge(body),
      shed() {
        body.release();
        refuse(exchange, overloaded.queue);
      },
    });
  }

  function* answer(exchange: Exchange, body: Body): Steps<void> {
    try {
      const { review, scope, path, milliseconds } = exchange.route;
      if (milliseconds === undefined) throw new HttpError(400, 'the timeout is not a duration such as 10s');
      const left = milliseconds - (performance.now() - exchange.startedAt);
      if (left <= 0) throw overloaded.deadline;
      const parsed = parseBody(body);
      yield;
      const reviewed = review(parsed, scope, left, path);
      const text = reviewed instanceof Promise ? yield* waitFor(reviewed) : yield* reviewed;
      yield;
      send(exchange, text);
    } catch (error) {
      refuse(exchange, error as Error);
    } finally {
      body.release();
    }
  }

  function send(exchange: Exchange, text: string): void {
    // ASCII, so that Node joins headers and body to one string of bytes.
    exchange.response
      .writeHead(200, ['content-type', answerType, 'content-length', String(text.length)])
      .end(text, 'latin1');
    count(exchange, 200);
  }

  function refuse(exchange: Exchange, error: Error): void {
    const { request, response, route } = exchange;
    const stated = statedError(error, route);
    if (stated instanceof Overloaded) reportShed(stated, route);
    count(exchange, writeError(stated, { path: route.path, request, response, log }));
  }

  function count({ request, route, startedAt }: Exchange, status: number): void {
    const label = status === 404 ? unknownPath : route.label;
    metrics.countHttp(request.method ?? '', label, status, (performance.now() - startedAt) / 1000);
  }

  return (request, response) => {
    const route = routeOf(request.url ?? '');
    if (route === undefined) return false;
    const exchange: Exchange = { request, response, route, startedAt: performance.now() };
    const error = callerError(exchange, options);
    if (error !== undefined) {
      refuse(exchange, error);
      return true;
    }
    if (onAbandoned !== undefined) {
      response.on('close', () => {
        if (!response.writableFinished) onAbandoned();
      });
    }
    turns.arrive(() => receive(exchange));
    return true;
  };
}

/**
 * API servers apply the failure policy of the webhook to an error status. If the answer has `Retry-After`, they first call again,
 * up to the timeout of the webhook.
 */
function statedError(error: Error, { isWorthWaiting }: ReviewRoute): Error {
  if (error instanceof MalformedReview) return new HttpError(400, error.message);
  if (!(error instanceof Overloaded)) return error;
  return (isWorthWaiting ? overloadedForNow : overloaded)[error.reason];
}

/** Refuses callers before their body is read. */
function callerError(
  { request, route }: Exchange,
  { needsCertificate, pathTokens }: ReviewHandlerOptions,
): HttpError | undefined {
  if (pathTokens !== undefined) {
    if (request.method !== 'POST' || !isAcceptedToken(route.token ?? '', pathTokens())) return notFound();
  } else if (request.method !== 'POST') return new HttpError(405, 'the method is not allowed here');
  if (needsCertificate && !(request.socket as TLSSocket).authorized)
    return new HttpError(403, 'a client certificate is required');
  // API servers send exactly this.
  if (request.headers['content-type'] !== contentType)
    return new HttpError(415, 'the content type must be application/json');
  return undefined;
}

function overloadedErrors(retryAfter?: number): Readonly<Record<ShedReason, Overloaded>> {
  return {
    queue: new Overloaded('queue', retryAfter),
    memory: new Overloaded('memory', retryAfter),
    deadline: new Overloaded('deadline', retryAfter),
  };
}

function isLarge({ bytes }: Body): boolean {
  return bytes.length > depthLimit;
}

function parseBody(body: Body): Json {
  const { bytes } = body;
  if (bytes.length === 0) throw new HttpError(400, 'the body is empty');
  // A small body can exceed neither limit.
  if (isLarge(body)) {
    const { depth, tokens } = scanJson(bytes);
    if (depth > depthLimit) throw new HttpError(400, 'the body is nested too deeply');
    if (tokens > tokenLimit) throw new HttpError(413, 'the body contains too many values');
    body.charge(bytes.length + tokens * bytesPerToken);
  } else body.charge(bytes.length * smallBodyFactor);
  try {
    return parseJson(bytes.toString(), bytes);
  } catch {
    // The message of the parser quotes the body. Kyverno also answers with 417.
    throw new HttpError(417, 'the body is not JSON');
  }
}
