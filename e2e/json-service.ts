import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface JsonService {
  readonly port: number;
  /** The number of requests so far. */
  given(): number;
  /** Requests without a response that are still open. */
  open(): number;
  close(): Promise<void>;
}

export interface JsonServiceOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Returns the response for a path and body; undefined for no response. */
  readonly answer: (path: string, body: string) => object | undefined;
}

/** A service that policies call. */
export async function startJsonService(host: string, options: JsonServiceOptions): Promise<JsonService> {
  let given = 0;
  let open = 0;
  const listener: RequestListener = (request, response) => {
    given += 1;
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const answer = options.answer(request.url ?? '/', body);
      if (answer === undefined) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    });
  };
  const server =
    options.tls === undefined ? createHttpServer(listener) : createHttpsServer(options.tls, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    given: () => given,
    open: () => open,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
