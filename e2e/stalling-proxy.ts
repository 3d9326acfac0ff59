import { connect, createServer, type Socket } from 'node:net';

export interface StallingProxy {
  readonly port: number;
  /** Open connections stop forwarding without being closed; new ones work. */
  stall(): void;
  /** Closes all open connections; new ones work. */
  cut(): void;
  /** Closes all connections, and new ones at once, until it is allowed again. */
  block(isBlocked: boolean): void;
  /** Delays what clients send by this time. */
  slow(milliseconds: number): void;
  connections(): number;
  close(): Promise<void>;
}

/** A TCP proxy that can stop forwarding, as if packets were dropped. */
export async function startStallingProxy(
  targetPort: number,
  targetHost = '127.0.0.1',
): Promise<StallingProxy> {
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket; stalled: boolean }>();
  let delayMs = 0;
  let isClosed = false;
  const listener = createServer((client) => {
    if (isClosed) {
      client.destroy();
      return;
    }
    const server = connect(targetPort, targetHost);
    const pair = { client, server, stalled: false };
    pairs.add(pair);
    client.on('data', (chunk) => {
      if (pair.stalled) return;
      if (delayMs === 0) server.write(chunk);
      else setTimeout(() => server.destroyed || server.write(chunk), delayMs);
    });
    server.on('data', (chunk) => pair.stalled || client.write(chunk));
    const end = () => {
      if (pair.stalled && !client.destroyed) return;
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('close', end).on('error', end);
  });
  const closeAll = () => {
    for (const { client, server } of [...pairs]) {
      client.destroy();
      server.destroy();
    }
  };
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    stall() {
      for (const pair of pairs) pair.stalled = true;
    },
    cut: closeAll,
    block(isBlocked) {
      isClosed = isBlocked;
      if (isBlocked) closeAll();
    },
    slow(milliseconds) {
      delayMs = milliseconds;
    },
    connections: () => pairs.size,
    async close() {
      closeAll();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
