import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reviewText } from '../../admission/review-response.ts';
import type { Json } from '../../json/value.ts';
import { Refusal } from '../http-error.ts';
import { asRefusal, millisecondsFor, reviewBody, reviewContentType } from './review-exchange.ts';
import type { PolicyScope, Reviewer } from './reviewer.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Answers an AdmissionReview of another kind of webhook: of policies. */
export type ReviewAnswerer = (body: Json, milliseconds: number, path: string) => Promise<object>;

export interface AdmissionRoutes {
  readonly reviewer: Reviewer;
  /** By path: `/policyvalidate`. */
  readonly others: ReadonlyMap<string, ReviewAnswerer>;
}

/** `/mutate`, `/mutate/ignore`, `/mutate/fail`, and below each of the two `/finegrained/[NAMESPACE/]POLICY`. */
export function addAdmissionRoutes(app: FastifyInstance, { reviewer, others }: AdmissionRoutes): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
    done(null, text),
  );
  const mutate = (scopeOf: (request: FastifyRequest) => PolicyScope): Handler =>
    answering((body, milliseconds, request) =>
      reviewer(body, scopeOf(request), milliseconds, request.url.split('?', 1)[0] ?? '').then(reviewText),
    );
  app.post(
    '/mutate',
    mutate(() => ({ set: 'all' })),
  );
  for (const set of ['ignore', 'fail'] as const) {
    app.post(
      `/mutate/${set}`,
      mutate(() => ({ set })),
    );
    app.post(
      `/mutate/${set}/finegrained/:policy`,
      mutate((request) => ({ set, policy: parameters(request).policy ?? '' })),
    );
    app.post(
      `/mutate/${set}/finegrained/:namespace/:policy`,
      mutate((request) => {
        const { namespace, policy } = parameters(request);
        return { set, policy: `${namespace}/${policy}` };
      }),
    );
  }
  for (const [path, answer] of others) {
    app.post(
      path,
      answering(async (body, milliseconds, { url }) =>
        JSON.stringify(await answer(body, milliseconds, url.split('?', 1)[0] ?? '')),
      ),
    );
  }
}

function parameters(request: FastifyRequest): {
  readonly namespace?: string | undefined;
  readonly policy?: string | undefined;
} {
  return request.params as { namespace?: string | undefined; policy?: string | undefined };
}

function answering(
  answer: (body: Json, milliseconds: number, request: FastifyRequest) => Promise<string>,
): Handler {
  return async (request, reply) => {
    // The API server sends exactly this.
    if (request.headers['content-type'] !== 'application/json') {
      throw new Refusal(415, 'the content type must be application/json');
    }
    const body = reviewBody(typeof request.body === 'string' ? request.body : '');
    const { timeout } = request.query as { timeout?: string | string[] | undefined };
    const milliseconds = millisecondsFor(Array.isArray(timeout) ? timeout[0] : timeout);
    try {
      // As bytes: a text that holds a single character beyond Latin-1 is ten times dearer to write to a socket.
      const bytes = Buffer.from(await answer(body, milliseconds, request));
      return await reply.header('content-type', reviewContentType).send(bytes);
    } catch (error) {
      throw asRefusal(error);
    }
  };
}
