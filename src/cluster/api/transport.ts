import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { performance } from 'node:perf_hooks';
import { fieldManager } from '../webhooks/names.ts';
import type { ClusterAccess, Credentials } from './cluster-access.ts';
import { ClusterAccessError } from './cluster-error.ts';

export interface HttpRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface Transport {
  /** The whole answer, within the deadline. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** The answer as it comes: `timeoutMs` counts until the headers are there. */
  open(request: HttpRequest): Promise<IncomingMessage>;
  /** Ends idle connections. */
  close(): void;
}

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 256 * 1024 * 1024;

/** One connection pool to the API server, over HTTP/1.1: a watch keeps a connection of its own. */
export function createTransport(access: ClusterAccess): Transport {
  const base = new URL(access.server);
  const prefix = base.pathname.replace(/\/$/, '');
  const secure = base.protocol === 'https:';
  let agent = { certificate: '', agent: undefined as HttpAgent | undefined };

  function agentFor(credentials: Credentials): HttpAgent {
    const certificate = credentials.cert ?? '';
    if (agent.agent !== undefined && agent.certificate === certificate) return agent.agent;
    agent.agent?.destroy();
    const pool = { keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 8 };
    const identity =
      credentials.cert === undefined ? {} : { cert: credentials.cert, key: credentials.key ?? '' };
    const made = secure ? new HttpsAgent({ ...pool, ...access.tls, ...identity }) : new HttpAgent(pool);
    agent = { certificate, agent: made };
    return made;
  }

  async function open(request: HttpRequest): Promise<IncomingMessage> {
    const deadline = performance.now() + (request.timeoutMs ?? defaultTimeoutMs);
    const attempt = async () => {
      const credentials = await access.credentials();
      return begin(request, credentials, deadline - performance.now());
    };
    try {
      return await attempt();
    } catch (error) {
      // A kept connection that the server has just closed says nothing about the request.
      if (error instanceof StaleConnection && request.signal?.aborted !== true) return attempt();
      throw error;
    }
  }

  function begin(request: HttpRequest, credentials: Credentials, leftMs: number): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body, signal } = request;
      const call: ClientRequest = (secure ? requestHttps : requestHttp)({
        protocol: base.protocol,
        hostname: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port || (secure ? 443 : 80),
        method,
        path: `${prefix}${path}`,
        agent: agentFor(credentials),
        headers: {
          accept: 'application/json',
          // The API server takes the name of the field manager from it.
          'user-agent': fieldManager,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...(credentials.authorization === undefined ? {} : { authorization: credentials.authorization }),
          ...headers,
        },
      });
      const timer = setTimeout(
        () => call.destroy(new ClusterAccessError(`${method} ${pathOnly(path)}: no answer in time`)),
        Math.max(leftMs, 0),
      );
      const abort = () => call.destroy(new ClusterAccessError(`${method} ${pathOnly(path)} was given up`));
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      if (signal?.aborted === true) abort();
      signal?.addEventListener('abort', abort, { once: true });
      call.on('socket', (socket) => socket.setKeepAlive(true, 15_000));
      call.once('response', (response) => {
        settle();
        resolve(response);
      });
      call.once('error', (error: NodeJS.ErrnoException) => {
        settle();
        const stale = call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (stale) reject(new StaleConnection(error.message, { cause: error }));
        else reject(error instanceof ClusterAccessError ? error : unreachable(base.host, error));
      });
      call.end(body);
    });
  }

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const startedAt = performance.now();
    const response = await open(request);
    const leftMs = (request.timeoutMs ?? defaultTimeoutMs) - (performance.now() - startedAt);
    const body = await readAll(response, request, leftMs);
    return {
      status: response.statusCode ?? 0,
      contentType: response.headers['content-type'] ?? '',
      body,
    };
  }

  return { send, open, close: () => agent.agent?.destroy() };
}

/** Tells of every request before it is sent. */
export function observeRequests(
  { send, open, close }: Transport,
  observe: (request: HttpRequest) => void,
): Transport {
  return {
    send(request) {
      observe(request);
      return send(request);
    },
    open(request) {
      observe(request);
      return open(request);
    },
    close,
  };
}

class StaleConnection extends ClusterAccessError {}

function unreachable(host: string, error: NodeJS.ErrnoException): ClusterAccessError {
  return new ClusterAccessError(
    `${host} cannot be reached: ${error.message || error.code || 'no reason given'}`,
    {
      cause: error,
    },
  );
}

/** Queries can hold selectors with names of users' things; messages show the path alone. */
export function pathOnly(path: string): string {
  return path.split('?', 1)[0] ?? '';
}

/** Reads an answer to its end, within a deadline and a size. */
export function readAll(response: IncomingMessage, request: HttpRequest, leftMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const { method, path, signal, maxBytes = defaultMaxBytes } = request;
    const chunks: Buffer[] = [];
    let size = 0;
    const giveUp = (reason: string) =>
      response.destroy(new ClusterAccessError(`${method} ${pathOnly(path)}: ${reason}`));
    const timer = setTimeout(() => giveUp('the answer did not end in time'), Math.max(leftMs, 0));
    const abort = () => giveUp('was given up');
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) giveUp(`the answer has more than ${maxBytes} bytes`);
      else chunks.push(chunk);
    });
    response.once('end', () => {
      settle();
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
    response.once('error', (error) => {
      settle();
      reject(error);
    });
    // A connection cut in the middle of an answer closes without an end.
    response.once('close', () => {
      settle();
      reject(new ClusterAccessError(`${method} ${pathOnly(path)}: the connection was closed`));
    });
  });
}
