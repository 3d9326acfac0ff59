import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { FastifyInstance } from 'fastify';

/** The files of the playground, by their path on the server. */
export type PageFiles = ReadonlyMap<string, PageFile>;

interface PageFile {
  readonly bytes: Uint8Array;
  readonly type: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the built page once: a request never reaches the file system. Undefined if the page is not built. */
export function readPageFiles(folder: string): PageFiles | undefined {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return undefined;
  }
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const path = `/${name.split(sep).join('/')}`;
    files.set(path === '/index.html' ? '/' : path, { bytes: readFileSync(join(folder, name)), type });
  }
  return files.has('/') ? files : undefined;
}

/** The page contains its Content-Security-Policy; a header also forbids to embed it. */
const headers = {
  'content-security-policy': "frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Serves the page at `/`. Names of assets contain a hash of their content. */
export function addPageRoutes(app: FastifyInstance, files: PageFiles): void {
  for (const [path, { bytes, type }] of files) {
    const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    app.get(path, { config: { label: '/playground' } }, (_request, reply) =>
      reply
        .headers({ ...headers, 'cache-control': cache })
        .type(type)
        .send(bytes),
    );
  }
}
