import { Agent, request } from 'node:https';
import type { JsonObject } from '../../src/json/value.ts';

/** Where reviews are sent; read before each review, because tokens and certificates rotate. */
export interface ReviewTarget {
  readonly url: URL;
  readonly ca: string;
}

export interface ReviewAnswer {
  /** 0 if there was none. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** From when the review was sent on an open connection. */
  readonly milliseconds: number;
  /** Allowed, with a patch. */
  readonly isPatched: boolean;
  readonly problem?: string | undefined;
}

export interface ReviewLoad {
  /** Sends one review after the other on each of `connections`, until `isEnough`. */
  closed(isEnough: () => boolean): Promise<void>;
  /** Sends so many reviews per second, whether or not those before are answered, until `isEnough`. */
  open(perSecond: number, isEnough: () => boolean): Promise<void>;
  close(): void;
}

export interface ReviewLoadOptions {
  /** The most reviews in flight. An API server with its default limits has about 200 mutating requests in flight. */
  readonly connections: number;
  /** Called with the number of the review. */
  readonly next: (index: number) => { readonly target: ReviewTarget; readonly body: Buffer };
  readonly onAnswer: (answer: ReviewAnswer, index: number) => void;
  /** As in the webhook configuration; after it the API server gives up. */
  readonly timeoutSeconds?: number | undefined;
}

const tickMs = 5;

/** Calls webhooks as API servers do: HTTP/1.1 over TLS, connections that are kept, one review at a time on each. */
export function createReviewLoad(options: ReviewLoadOptions): ReviewLoad {
  const { connections, next, onAnswer, timeoutSeconds = 10 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'lifo' });
  let sent = 0;
  const send = async (onConnection?: () => void) => {
    const index = sent;
    sent += 1;
    const { target, body } = next(index);
    onAnswer(await post(agent, target, body, { timeoutSeconds, onConnection }), index);
  };
  return {
    async closed(isEnough) {
      const work = async (onConnection: () => void) => {
        if (!isEnough()) await send(onConnection);
        onConnection();
        while (!isEnough()) await send();
      };
      const all: Promise<void>[] = [];
      // One handshake at a time: on a busy machine, many at once exceed their time limit.
      while (all.length < connections) await new Promise<void>((connected) => all.push(work(connected)));
      await Promise.all(all);
    },
    async open(perSecond, isEnough) {
      const startedAt = performance.now();
      const inFlight = new Set<Promise<void>>();
      let due = 0;
      while (!isEnough()) {
        const wanted = ((performance.now() - startedAt) / 1_000) * perSecond;
        for (; due < wanted && inFlight.size < connections; due += 1) {
          const sending = send().finally(() => inFlight.delete(sending));
          inFlight.add(sending);
        }
        // What found no connection is not sent later.
        due = Math.max(due, Math.floor(wanted));
        await new Promise((resolve) => setTimeout(resolve, tickMs));
      }
      await Promise.all(inFlight);
    },
    close: () => agent.destroy(),
  };
}

function post(
  agent: Agent,
  { url, ca }: ReviewTarget,
  body: Buffer,
  { timeoutSeconds, onConnection }: { timeoutSeconds: number; onConnection?: (() => void) | undefined },
): Promise<ReviewAnswer> {
  return new Promise((resolve) => {
    let startedAt = performance.now();
    const end = (status: number, isPatched: boolean, retryAfter?: string, problem?: string) =>
      resolve({ status, isPatched, retryAfter, milliseconds: performance.now() - startedAt, problem });
    const options = {
      agent,
      ca,
      method: 'POST',
      hostname: url.hostname,
      port: url.port,
      path: `${url.pathname}?timeout=${timeoutSeconds}s`,
      headers: { 'content-type': 'application/json', 'content-length': body.length },
      timeout: timeoutSeconds * 1_000,
    };
    const call = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', (error) => end(0, false, undefined, String(error)));
      response.on('end', () => {
        const isPatched = text.includes('"allowed":true') && text.includes('"patch":"');
        const problem = isPatched ? undefined : text.slice(0, 300);
        end(response.statusCode ?? 0, isPatched, response.headers['retry-after'], problem);
      });
    });
    call.on('socket', (socket) => {
      if (!socket.connecting) return onConnection?.();
      socket.once('secureConnect', () => {
        startedAt = performance.now();
        onConnection?.();
      });
    });
    call.on('timeout', () => call.destroy(new Error('no answer within the timeout')));
    call.on('error', (error) => end(0, false, undefined, String(error)));
    call.end(body);
  });
}

/** The body of a review that creates an object. */
export function reviewBody(namespace: string, object: JsonObject): Buffer {
  const kind = String(object['kind']);
  return Buffer.from(
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: '0c1a2b3c-0000-4000-8000-000000000000',
        kind: { group: '', version: 'v1', kind },
        resource: { group: '', version: 'v1', resource: `${kind.toLowerCase()}s` },
        requestKind: { group: '', version: 'v1', kind },
        requestResource: { group: '', version: 'v1', resource: `${kind.toLowerCase()}s` },
        name: 'reviewed',
        namespace,
        operation: 'CREATE',
        userInfo: { username: 'soak', groups: ['system:authenticated'] },
        object,
        oldObject: null,
        dryRun: true,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      },
    }),
  );
}
