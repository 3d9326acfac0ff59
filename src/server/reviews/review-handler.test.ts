import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../json/value.ts';
import type { Log } from '../log.ts';
import { createBodyReader } from './body-reader.ts';
import { createReviewHandler } from './review-handler.ts';
import type { QueuedReview, Turns } from './review-queue.ts';
import type { PolicyScope } from './routes.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server whose queue treats each review as told. */
async function serve(treat: (review: QueuedReview) => void) {
  const shed: string[] = [];
  const reviewed: number[] = [];
  const silent = { warn: () => undefined, error: () => undefined } as unknown as Log;
  const turns: Turns = { arrive: (receive) => setImmediate(receive), add: treat, queueLength: 0 };
  const review = async (_body: Json, _scope: PolicyScope, milliseconds: number) => {
    reviewed.push(milliseconds);
    return '{}';
  };
  const handle = createReviewHandler({
    webhooks: { mutate: review, validate: (body, scope, milliseconds) => review(body, scope, milliseconds) },
    needsCertificate: false,
    readBody: createBodyReader({ bodyLimit: 1_000_000, budget: 1_000_000 }),
    metrics: {
      countHttp: () => undefined,
      countShed: (route, reason) => shed.push(`${route} ${reason}`),
      measureQueue: () => undefined,
    },
    log: silent,
    turns,
  });
  const server = createServer((request, response) => void handle(request, response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const post = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      text: await answer.text(),
    };
  };
  return { post, shed, reviewed };
}

describe('a review that is shed', () => {
  it.each([
    ['/mutate', '1'],
    ['/mutate/fail', '1'],
    ['/mutate/fail/finegrained/one', '1'],
    ['/mutate/ignore', null],
    ['/mutate/ignore/finegrained/one', null],
    // A trigger that is not recorded is lost.
    ['/validate/ignore', '1'],
  ])('of %s is answered 503 with Retry-After: %s', async (path, retryAfter) => {
    const { post, shed } = await serve((review) => review.shed());
    expect(await post(path)).toEqual({
      status: 503,
      retryAfter,
      text: '{"error":"the server is overloaded: too many reviews are waiting"}',
    });
    expect(shed).toEqual([`${path.replace('/one', '/:policy')} queue`]);
  });
});

describe('the time in the queue', () => {
  const afterMilliseconds = (milliseconds: number) => (review: QueuedReview) => {
    setTimeout(async () => {
      for (let step = review.steps.next(); step.done !== true; step = review.steps.next()) await step.value;
    }, milliseconds);
  };

  it('is part of the time for the answer', async () => {
    const { post, reviewed } = await serve(afterMilliseconds(50));
    expect((await post('/mutate?timeout=10s')).status).toBe(200);
    expect(reviewed[0]).toBeLessThan(9_500 - 45);
  });

  it('beyond the time for the answer sheds the review', async () => {
    const { post, shed, reviewed } = await serve(afterMilliseconds(50));
    expect(await post('/mutate/ignore?timeout=20ms')).toMatchObject({ status: 503, retryAfter: null });
    expect([shed, reviewed]).toEqual([['/mutate/ignore deadline'], []]);
  });
});
