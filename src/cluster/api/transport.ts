import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { performance } from 'node:perf_hooks';
import type { ClusterAccess, ConnectionSettings } from './cluster-access.ts';
import { ClusterAccessError } from './cluster-error.ts';
import { fieldManager } from './names.ts';

export interface HttpRequest {
  readonly method: string;
  /** Includes the query. */
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
  /** Resolves with the complete response, within the deadline. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Resolves with a stream when the headers have arrived; `timeoutMs` covers only these. */
  open(request: HttpRequest): Promise<IncomingMessage>;
  /** The time of the API server, in ms since the epoch, as of its last response; the own time before the first one. */
  now(): number;
  /** Closes idle connections. */
  close(): void;
}

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 256 * 1024 * 1024;

/** An API server that ends closes all its connections: the next idle one may be lost, too. */
const mostAttempts = 4;

/**
 * Requests over HTTP/1.1, on the connections that the access provides: a watch occupies a connection. A proxy that does
 * not answer keeps a request without a socket, so deadlines do not rely on the events of the request.
 */
export function createTransport(access: ClusterAccess): Transport {
  const base = new URL(access.server);
  const prefix = base.pathname.replace(/\/$/, '');
  const secure = base.protocol === 'https:';
  let known: { readonly time: number; readonly at: number } | undefined;

  async function open(request: HttpRequest): Promise<IncomingMessage> {
    const deadline = performance.now() + (request.timeoutMs ?? defaultTimeoutMs);
    const attempt = async (settings: ConnectionSettings): Promise<IncomingMessage> => {
      for (let left = mostAttempts - 1; ; left -= 1) {
        try {
          return await begin(request, settings, deadline - performance.now());
        } catch (error) {
          if (left === 0 || !(error instanceof LostConnection) || request.signal?.aborted === true)
            throw error;
        }
      }
    };
    const settings = await access.settings();
    const response = await attempt(settings);
    if (response.statusCode !== 401) return response;
    const renewed = await access.settings(settings);
    if (sameCredentials(renewed, settings)) return response;
    response.destroy();
    return attempt(renewed);
  }

  function begin(
    request: HttpRequest,
    settings: ConnectionSettings,
    leftMs: number,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body, signal } = request;
      const call: ClientRequest = (secure ? requestHttps : requestHttp)({
        protocol: base.protocol,
        hostname: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port || (secure ? 443 : 80),
        method,
        path: `${prefix}${path}`,
        agent: settings.agent,
        headers: {
          accept: 'application/json',
          // The API server derives the default field manager from it.
          'user-agent': fieldManager,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...settings.headers,
          ...headers,
        },
      });
      const fail = (error: Error) => {
        settle();
        reject(error);
        call.destroy(error);
      };
      const timer = setTimeout(
        () => fail(new ClusterAccessError(`${method} ${pathOnly(path)}: no response before the deadline`)),
        Math.max(leftMs, 0),
      );
      const abort = () => fail(new ClusterAccessError(`${method} ${pathOnly(path)} was aborted`));
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      call.on('socket', (socket) => socket.setKeepAlive(true, 15_000));
      call.once('response', (response) => {
        settle();
        const time = Date.parse(response.headers.date ?? '');
        if (!Number.isNaN(time)) known = { time, at: performance.now() };
        resolve(response);
      });
      call.on('error', (error: NodeJS.ErrnoException) => {
        settle();
        const isLost = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        const Kind = isLost && (call.reusedSocket || method === 'GET') ? LostConnection : ClusterAccessError;
        if (error instanceof ClusterAccessError) reject(error);
        else reject(new Kind(unreachable(base.host, error), { cause: error }));
      });
      if (signal?.aborted === true) return abort();
      signal?.addEventListener('abort', abort, { once: true });
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

  return {
    send,
    open,
    now: () => (known === undefined ? Date.now() : known.time + performance.now() - known.at),
    close: () => access.close(),
  };
}

/** Reports each request before it is sent. */
export function observeRequests(
  { send, open, now, close }: Transport,
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
    now,
    close,
  };
}

/** The request can be sent again: the server closed an idle connection and did not process it, or it only reads. */
class LostConnection extends ClusterAccessError {}

function sameCredentials(one: ConnectionSettings, other: ConnectionSettings): boolean {
  return one.agent === other.agent && one.headers['Authorization'] === other.headers['Authorization'];
}

function unreachable(host: string, { message, code }: NodeJS.ErrnoException): string {
  return `${host} cannot be reached: ${message || code || 'no reason given'}`;
}

/** Error messages omit the query: its selectors may contain names of users' objects. */
export function pathOnly(path: string): string {
  return path.split('?', 1)[0] ?? '';
}

/** Reads a response to its end, within a deadline and a size limit. */
export function readAll(response: IncomingMessage, request: HttpRequest, leftMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const { method, path, signal, maxBytes = defaultMaxBytes } = request;
    const chunks: Buffer[] = [];
    let size = 0;
    const giveUp = (reason: string) =>
      response.destroy(new ClusterAccessError(`${method} ${pathOnly(path)}: ${reason}`));
    const timer = setTimeout(
      () => giveUp('the response did not end before the deadline'),
      Math.max(leftMs, 0),
    );
    const abort = () => giveUp('aborted');
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) giveUp(`the response is larger than ${maxBytes} bytes`);
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
    // A connection that breaks during a response closes without an end event.
    response.once('close', () => {
      settle();
      reject(
        new ClusterAccessError(`${method} ${pathOnly(path)}: the connection closed during the response`),
      );
    });
  });
}
