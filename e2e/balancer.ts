import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards each connection to the next backend that accepts it, as a Service does. */
export interface Balancer {
  readonly port: number;
  /** Replaces the ports of the backends. */
  setBackends(ports: readonly number[]): void;
  connectionsTo(port: number): Readonly<BackendConnections>;
  close(): Promise<void>;
}

export interface BackendConnections {
  /** Open, or being opened. */
  open: number;
  /** Closed by the backend while the client had them open. */
  broken: number;
}

export async function startBalancer(host: string): Promise<Balancer> {
  const open = new Set<Socket>();
  const connections = new Map<number, BackendConnections>();
  const connectionsTo = (port: number): BackendConnections => {
    const known = connections.get(port) ?? { open: 0, broken: 0 };
    connections.set(port, known);
    return known;
  };
  let backends: readonly number[] = [];
  let turn = 0;
  const server = createServer((client) => {
    track(open, client);
    turn += 1;
    const order = backends.map((_, index) => backends[(turn + index) % backends.length] ?? 0);
    forward(client, order);
  });
  const forward = (client: Socket, [port, ...others]: readonly number[]): void => {
    if (client.destroyed) return;
    if (port === undefined) {
      client.destroy();
      return;
    }
    let isConnected = false;
    const counted = connectionsTo(port);
    counted.open += 1;
    const upstream = connect(port, host, () => {
      isConnected = true;
      // This also passes on the end of each direction at once, as a Service does.
      client.pipe(upstream).pipe(client);
    });
    track(open, upstream);
    upstream.once('close', () => {
      counted.open -= 1;
      if (!isConnected) {
        forward(client, others);
        return;
      }
      if (!client.destroyed && !client.readableEnded) counted.broken += 1;
      // What the backend has sent still arrives.
      client.destroySoon();
    });
    client.once('close', () => upstream.destroy());
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    setBackends: (ports) => {
      backends = ports;
    },
    connectionsTo,
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function track(open: Set<Socket>, socket: Socket): void {
  open.add(socket);
  socket.on('error', () => undefined);
  socket.once('close', () => open.delete(socket));
}
