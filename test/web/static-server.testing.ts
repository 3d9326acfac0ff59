import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** A plain web server for a folder, below a path: it sends no headers that help the page. */
export async function serveFolder(
  folder: string,
  path: string,
): Promise<{ address: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const inside = pathname.startsWith(path) ? normalize(pathname.slice(path.length) || 'index.html') : '..';
    if (inside.startsWith('..')) {
      response.writeHead(404).end();
      return;
    }
    readFile(join(folder, inside)).then(
      (bytes) =>
        response.writeHead(200, { 'content-type': types[extname(inside)] ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
