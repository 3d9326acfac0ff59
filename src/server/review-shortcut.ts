import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { reviewText } from '../admission/review-response.ts';
import type { HttpCount, Metrics } from './metrics.ts';
import { refusalAnswer } from './refusal.ts';
import { asRefusal, millisecondsFor, reviewBody, reviewContentType } from './review-exchange.ts';
import type { Log } from './review-log.ts';
import type { PolicyScope, Reviewer } from './reviewer.ts';

export type ServerRequest = IncomingMessage | Http2ServerRequest;
export type ServerAnswer = ServerResponse | Http2ServerResponse;

export interface ShortcutOptions {
  readonly reviewer: Reviewer;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly bodyLimit: number;
  /** Callers must have shown a certificate that was accepted. */
  readonly isGuarded: boolean;
  readonly isDraining: () => boolean;
}

/** True when the request is answered here. */
export type ReviewShortcut = (request: ServerRequest, response: ServerAnswer) => boolean;

interface Endpoint {
  readonly path: string;
  readonly scope: PolicyScope;
  readonly countAnswered: HttpCount;
}

/**
 * Answers what an API server sends all day past the HTTP framework, whose share of a review is larger than the
 * policies'. Only plain requests are taken; whatever is unusual about one is left to the framework's routes, which
 * say what is wrong with it.
 */
export function createReviewShortcut(options: ShortcutOptions): ReviewShortcut {
  const { bodyLimit, isGuarded, metrics } = options;
  const endpoints = new Map<string, Endpoint>();
  for (const set of ['all', 'ignore', 'fail'] as const) {
    const path = set === 'all' ? '/mutate' : `/mutate/${set}`;
    endpoints.set(path, { path, scope: { set }, countAnswered: metrics.httpCount('POST', path, 200) });
  }
  const timeouts = createTimeoutReader();
  const queue = createReviewQueue();

  return (request, response) => {
    if (request.method !== 'POST') return false;
    const url = request.url ?? '';
    const queryAt = url.indexOf('?');
    const endpoint = endpoints.get(queryAt < 0 ? url : url.slice(0, queryAt));
    if (endpoint === undefined) return false;
    const { headers } = request;
    const length = Number(headers['content-length']);
    if (headers['content-type'] !== 'application/json' || !(length > 0 && length <= bodyLimit)) return false;
    if (headers.expect !== undefined || headers['content-encoding'] !== undefined) return false;
    if (isGuarded && (request.socket as TLSSocket).authorized !== true) return false;
    const milliseconds = queryAt < 0 ? timeouts('') : timeouts(url.slice(queryAt + 1));
    if (milliseconds === undefined) return false;
    readBody(request, new Exchange(endpoint, milliseconds, response, options), queue);
    return true;
  };
}

/** One review on its way. */
class Exchange {
  readonly #startedAt = performance.now();
  readonly #endpoint: Endpoint;
  readonly #milliseconds: number;
  readonly #response: ServerAnswer;
  readonly #options: ShortcutOptions;

  constructor(endpoint: Endpoint, milliseconds: number, response: ServerAnswer, options: ShortcutOptions) {
    this.#endpoint = endpoint;
    this.#milliseconds = milliseconds;
    this.#response = response;
    this.#options = options;
  }

  async answer(text: string): Promise<void> {
    const { path, scope, countAnswered } = this.#endpoint;
    const { reviewer, metrics, log } = this.#options;
    try {
      const review = await reviewer(reviewBody(text), scope, this.#milliseconds, path);
      this.#send(200, reviewText(review));
      countAnswered((performance.now() - this.#startedAt) / 1000);
    } catch (error) {
      const { status, body } = refusalAnswer(asRefusal(error), path, log);
      this.#send(status, JSON.stringify(body));
      metrics.httpCount('POST', path, status)((performance.now() - this.#startedAt) / 1000);
    }
  }

  #send(status: number, text: string): void {
    const response = this.#response;
    const length = Buffer.byteLength(text);
    if (this.#options.isDraining() && response.req.httpVersionMajor === 1) {
      response.setHeader('connection', 'close');
    }
    (response as ServerResponse).writeHead(status, {
      'content-type': reviewContentType,
      'content-length': length,
    });
    // Header and text leave in one piece. A text that is not ASCII is turned into bytes first: the stream would take ten times longer.
    if (length === text.length) (response as ServerResponse).end(text, 'latin1');
    else response.end(Buffer.from(text));
  }
}

function readBody(request: ServerRequest, exchange: Exchange, queue: ReviewQueue): void {
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  request.on('data', (chunk: Buffer) => {
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on('end', () => {
    const body = rest === undefined ? first : Buffer.concat(rest);
    queue(exchange, body === undefined ? '' : body.toString());
  });
  // A caller that left needs no answer.
  request.on('error', () => undefined);
}

type ReviewQueue = (exchange: Exchange, text: string) => void;

/**
 * Reviews that came in together are answered together, once all connections have been read: code that runs sixteen
 * times in a row is in the processor's caches fifteen times, which saves a third of the time under load.
 */
function createReviewQueue(): ReviewQueue {
  let waiting: (() => Promise<void>)[] = [];
  const answerAll = () => {
    const answers = waiting;
    waiting = [];
    for (const answer of answers) void answer();
  };
  return (exchange, text) => {
    if (waiting.length === 0) setImmediate(answerAll);
    waiting.push(() => exchange.answer(text));
  };
}

/** Reads `timeout=10s`; undefined for what is no such query. API servers send the same one again and again. */
function createTimeoutReader(): (query: string) => number | undefined {
  const known = new Map<string, number>([['', millisecondsFor(undefined)]]);
  return (query) => {
    const remembered = known.get(query);
    if (remembered !== undefined) return remembered;
    if (!/^timeout=\d+m?s$/.test(query) || known.size > 100) return undefined;
    try {
      const milliseconds = millisecondsFor(query.slice('timeout='.length));
      known.set(query, milliseconds);
      return milliseconds;
    } catch {
      return undefined;
    }
  };
}
