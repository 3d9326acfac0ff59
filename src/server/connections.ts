import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Open connections of both protocols, so that a server that stops can let each finish what it is doing. */
export interface Connections {
  readonly open: number;
  /** For connections that are read past the server's own HTTP. */
  setBusy(socket: Socket, isBusy: boolean): void;
  /** Asks HTTP/2 peers to go, and closes HTTP/1 connections on which nothing is going on. */
  closeIdle(): void;
  closeAll(): void;
}

export function trackConnections(server: Http2SecureServer): Connections {
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  /** Requests in progress on HTTP/1 connections. */
  const busy = new WeakSet<object>();
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.prependListener('request', (request, response) => {
    if (request.httpVersionMajor !== 1) return;
    const { socket } = request;
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
  });
  return {
    get open() {
      return sockets.size + sessions.size;
    },
    setBusy(socket, isBusy) {
      if (isBusy) busy.add(socket);
      else busy.delete(socket);
    },
    closeIdle() {
      for (const session of sessions) session.close();
      for (const socket of sockets) if (!busy.has(socket)) socket.end();
    },
    closeAll() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}
