import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { timeToAnswer } from '../../admission/deadline.ts';
import { MalformedReview } from '../../admission/review-request.ts';
import { parseJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { HttpError, notFound } from '../http-error.ts';
import type { Body, BodyReader } from './body-reader.ts';
import { scanJson } from './json-scan.ts';
import { isAcceptedToken, type PathTokens } from './path-token.ts';

/** The policies that a path selects: all, those of one failure policy, or a single one. */
export interface PolicyScope {
  readonly set: 'all' | 'ignore' | 'fail';
  /** `name` or `namespace/name`. */
  readonly policy?: string | undefined;
}

/** Answers the AdmissionReview in a body as JSON. Throws MalformedReview for any other body. */
export type Review = (body: Json, scope: PolicyScope, milliseconds: number, path: string) => Promise<string>;

export interface Webhooks {
  /** `/mutate`: mutates objects. */
  readonly mutate: Review;
  /** `/validate`: records triggers of background rules. */
  readonly validate?: Review | undefined;
  /** `/policyvalidate`: checks policies. */
  readonly policyvalidate?: Review | undefined;
}

export interface ReviewRouteOptions {
  readonly webhooks: Webhooks;
  /** Callers must present a client certificate that the TLS server has verified. */
  readonly needsCertificate: boolean;
  /** When given, paths start with a token; without an accepted token they do not exist. */
  readonly pathTokens?: PathTokens | undefined;
  readonly readBody: BodyReader;
  /** Called when an accepted caller closed the connection before it had the answer. */
  readonly onAbandoned?: (() => void) | undefined;
}

interface PathParameters {
  readonly token?: string;
  readonly namespace?: string;
  readonly policy?: string;
}

const contentType = 'application/json';
const answerType = 'application/json; charset=utf-8';
/** Three times as deep as Go parses JSON, and so as any object in a cluster. */
const depthLimit = 32_768;
const tokenLimit = 1_000_000;
/** Memory of a parsed value. */
const bytesPerToken = 48;
/** Memory of a parsed small body, relative to its length. */
const smallBodyFactor = 8;

/**
 * Adds the routes of all webhooks: `/policyvalidate`, and for `mutate` and `validate` `/WEBHOOK`, `/WEBHOOK/ignore`,
 * `/WEBHOOK/fail`, and below the last two `/finegrained/[NAMESPACE/]POLICY`.
 */
export function addReviewRoutes(app: FastifyInstance, options: ReviewRouteOptions): void {
  const { webhooks, pathTokens, onAbandoned } = options;
  const prefix = pathTokens === undefined ? '' : '/:token';
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(contentType, async (request: FastifyRequest, payload: IncomingMessage) =>
    request.is404 ? undefined : options.readBody(payload),
  );
  const readTimeout = createTimeoutReader();
  const turns = createTurns();

  function add(
    path: string,
    review: Review | undefined,
    scopeOf: (request: FastifyRequest) => PolicyScope,
  ): void {
    if (review === undefined) return;
    const config = { label: path };
    const base = path.split(':', 1)[0] ?? '';
    app.post(`${prefix}${path}`, { config, onRequest }, async (request, reply) => {
      const body = request.body as Body;
      try {
        const milliseconds = readTimeout(request);
        await (isLarge(body) ? turns.nextAlone() : turns.next());
        const scope = scopeOf(request);
        // Not the URL, which may contain the token.
        const shownPath = scope.policy === undefined ? path : base + scope.policy;
        const answer = await review(parseBody(body), scope, milliseconds, shownPath).catch(refuseMalformed);
        return sendText(reply, answer);
      } finally {
        body.release();
      }
    });
  }

  /** Refuses callers before their body is read. */
  function onRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    const error = callerError(request, options);
    if (error === undefined && onAbandoned !== undefined)
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) onAbandoned();
      });
    done(error);
  }

  const all: PolicyScope = { set: 'all' };
  add('/policyvalidate', webhooks.policyvalidate, () => all);
  for (const webhook of ['mutate', 'validate'] as const) {
    add(`/${webhook}`, webhooks[webhook], () => all);
    for (const set of ['ignore', 'fail'] as const) {
      const scope: PolicyScope = { set };
      const base = `/${webhook}/${set}`;
      add(base, webhooks[webhook], () => scope);
      add(`${base}/finegrained/:policy`, webhooks[webhook], ({ params }) => ({
        set,
        policy: (params as PathParameters).policy,
      }));
      add(`${base}/finegrained/:namespace/:policy`, webhooks[webhook], ({ params }) => {
        const { namespace, policy } = params as PathParameters;
        return { set, policy: `${namespace}/${policy}` };
      });
    }
  }
}

function callerError(
  { headers, params, raw }: FastifyRequest,
  { needsCertificate, pathTokens }: ReviewRouteOptions,
): HttpError | undefined {
  if (pathTokens !== undefined && !isAcceptedToken((params as PathParameters).token ?? '', pathTokens()))
    return notFound();
  if (needsCertificate && !(raw.socket as TLSSocket).authorized)
    return new HttpError(403, 'a client certificate is required');
  // API servers send exactly this; fastify would also accept a charset.
  if (headers['content-type'] !== contentType)
    return new HttpError(415, 'the content type must be application/json');
  return undefined;
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

function refuseMalformed(error: unknown): never {
  throw error instanceof MalformedReview ? new HttpError(400, error.message) : error;
}

/** A string with a single character beyond Latin-1 takes ten times longer to write to a socket than bytes. */
function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', answerType).send(Buffer.from(text));
}

interface Turns {
  /** Resolves in the next turn of the event loop, together with all others that wait for it. */
  next(): Promise<void>;
  /** Resolves in a later turn; only one per turn. */
  nextAlone(): Promise<void>;
}

/**
 * Reviews that arrive together are answered together, and at each `await` all of them advance by one step. Code that runs
 * sixteen times in a row stays in the caches of the processor: under load this saves a third of the time. Large reviews are
 * answered one per turn, so that small ones never wait for more than one of them.
 */
function createTurns(): Turns {
  let together: Promise<void> | undefined;
  const alone: (() => void)[] = [];
  const releaseOne = () => {
    alone.shift()?.();
    if (alone.length > 0) setImmediate(releaseOne);
  };
  return {
    next() {
      together ??= new Promise((resolve) => {
        setImmediate(() => {
          together = undefined;
          resolve();
        });
      });
      return together;
    },
    nextAlone() {
      return new Promise((resolve) => {
        alone.push(resolve);
        if (alone.length === 1) setImmediate(releaseOne);
      });
    },
  };
}

const rememberedTimeouts = 100;

/** Reads `?timeout=10s`. API servers send only a few different values. */
function createTimeoutReader(): (request: FastifyRequest) => number {
  const known = new Map<string | undefined, number>();
  return ({ query }) => {
    const { timeout } = query as { readonly timeout?: string | readonly string[] };
    const text = typeof timeout === 'object' ? timeout[0] : timeout;
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const milliseconds = timeToAnswer(text);
    if (milliseconds === undefined) throw new HttpError(400, 'the timeout is not a duration such as 10s');
    if (known.size < rememberedTimeouts) known.set(text, milliseconds);
    return milliseconds;
  };
}
