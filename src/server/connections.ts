import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

export interface Connections {
  readonly requestsInFlight: number;
  /** To be called for each request. */
  track(request: IncomingMessage, response: ServerResponse): void;
  /** Includes connections whose TLS handshake is not finished, which `closeAllConnections` misses. */
  destroyAll(): void;
}

interface Connection {
  readonly socket: Socket;
  requestsInFlight: number;
  /** Whether a review on it was answered: a sign that the caller is an API server. */
  isProven: boolean;
}

/**
 * Limits the number of connections. A new connection beyond the limit replaces the oldest one that has not been useful: a
 * flood of stalled connections cannot lock out an API server.
 */
export function limitConnections(server: Server, limit: number): Connections {
  /** Oldest first, by remote address and port: the TLS socket of a request is not the socket of the connection. */
  const open = new Map<string, Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  let requestsInFlight = 0;

  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    open.set(key, { socket, requestsInFlight: 0, isProven: false });
    socket.once('close', () => open.delete(key));
    if (open.size > limit) (leastUseful(open.values(), socket) ?? { socket }).socket.destroy();
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const connection = open.get(keyOf(socket));
    if (connection !== undefined) bySocket.set(socket, connection);
  });

  return {
    get requestsInFlight() {
      return requestsInFlight;
    },
    track(request, response) {
      const connection = bySocket.get(request.socket);
      requestsInFlight += 1;
      if (connection !== undefined) connection.requestsInFlight += 1;
      response.on('close', () => {
        requestsInFlight -= 1;
        if (connection === undefined) return;
        connection.requestsInFlight -= 1;
        // Anybody gets a good answer to a GET.
        connection.isProven ||=
          request.method === 'POST' && response.statusCode < 400 && response.writableFinished;
      });
    },
    destroyAll() {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The oldest connection without an answered review; if there is none, the oldest idle one. Never the newest. */
function leastUseful(connections: Iterable<Connection>, newest: Socket): Connection | undefined {
  let idle: Connection | undefined;
  for (const connection of connections) {
    if (connection.socket === newest) continue;
    if (!connection.isProven) return connection;
    if (connection.requestsInFlight === 0) idle ??= connection;
  }
  return idle;
}
