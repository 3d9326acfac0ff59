import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { createDirectReader, type DirectOptions } from './reviews/direct-connection.ts';
import type { CallerRules, NodeShortcut } from './reviews/node-shortcut.ts';
import { type ServingCertificate, secureContextOf } from './tls.ts';

export interface TlsServerOptions {
  readonly certificate: ServingCertificate;
  readonly clientCa?: string | undefined;
  /** How long a body may take to arrive. */
  readonly bodyMilliseconds: number;
  /** How long nothing may happen on a connection. */
  readonly idleMilliseconds: number;
}

/** Both protocols on one port. The framework gets what the shortcut leaves. */
export function createTlsServer(
  { certificate, clientCa, bodyMilliseconds, idleMilliseconds }: TlsServerOptions,
  shortcut: NodeShortcut,
  handler: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Http2SecureServer {
  const server = createSecureServer(
    {
      ...secureContextOf(certificate, clientCa),
      allowHTTP1: true,
      ...(clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
    },
    (request, response) => {
      if (request.httpVersionMajor === 2) endWhenLate(request, bodyMilliseconds);
      if (!shortcut(request, response)) handler(request, response);
    },
  );
  server.on('session', (session) => session.setTimeout(idleMilliseconds, () => session.close()));
  return Object.assign(server, { requestTimeout: bodyMilliseconds });
}

/** Node watches over the callers of HTTP/1 only. */
function endWhenLate(request: Http2ServerRequest, milliseconds: number): void {
  const timer = setTimeout(() => request.stream.close(constants.NGHTTP2_CANCEL), milliseconds);
  const forget = () => clearTimeout(timer);
  request.once('end', forget).once('close', forget);
}

/** Puts the direct reader before Node's own for HTTP/1.1, on connections whose callers may send reviews. */
export function readDirectly(
  server: Http2SecureServer,
  options: Omit<DirectOptions, 'handOver'> & CallerRules,
): void {
  const listeners = server.listeners('secureConnection');
  const handOver = (socket: TLSSocket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
  const read = createDirectReader({ ...options, handOver });
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    const isDirect = socket.alpnProtocol !== 'h2' && (!options.isGuarded || socket.authorized);
    if (isDirect) read(socket);
    else handOver(socket);
  });
}
