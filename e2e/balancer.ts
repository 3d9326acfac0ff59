import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards each connection to the next backend that accepts it, as a Service does. */
export interface Balancer {
  readonly port: number;
  /** Replaces the ports of the backends. */
  setBackends(ports: readonly number[]): void;
  close(): Promise<void>;
}

export async function startBalancer(host: string): Promise<Balancer> {
  const open = new Set<Socket>();
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
    const upstream = connect(port, host, () => {
      isConnected = true;
      client.pipe(upstream).pipe(client);
    });
    track(open, upstream);
    upstream.once('close', () => (isConnected ? client.destroy() : forward(client, others)));
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
