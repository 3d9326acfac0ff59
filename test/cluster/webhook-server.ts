import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../src/json/value.ts';

export type Answerer = (body: Json) => Promise<object>;

export interface WebhookServer {
  /** Sets the certificate. */
  use(certificate: { readonly cert: string; readonly key: string }): void;
  /** Sets the handlers by path. */
  answer(paths: Readonly<Record<string, Answerer>>): void;
  close(): Promise<void>;
}

/** A minimal webhook server; the real server has its own tests. */
export async function startWebhookServer(port: number): Promise<WebhookServer> {
  let answers: Readonly<Record<string, Answerer>> = {};
  const server: Server = createServer((request, response) => {
    // Paths start with a token.
    const path = new URL(request.url ?? '/', 'https://host').pathname.replace(/^\/[a-z0-9]{48}(?=\/)/, '');
    const answer = answers[path];
    if (answer === undefined) {
      response.writeHead(path === '/healthz' ? 200 : 404).end();
      return;
    }
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', async () => {
      try {
        const body = JSON.stringify(await answer(JSON.parse(text) as Json));
        response.setHeader('content-type', 'application/json');
        response.end(body);
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    });
  });
  return {
    use({ cert, key }) {
      server.setSecureContext({ cert, key });
      if (!server.listening) server.listen(port, '127.0.0.1');
    },
    answer(paths) {
      answers = paths;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
