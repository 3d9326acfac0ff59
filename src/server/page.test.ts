import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { addPageRoutes, type PageFiles, readPageFiles } from './page.ts';

const folder = mkdtempSync(join(tmpdir(), 'kymera-page-'));
mkdirSync(join(folder, 'web/assets'), { recursive: true });
writeFileSync(join(folder, 'web/index.html'), '<title>page</title>');
writeFileSync(join(folder, 'web/assets/a-1.js'), 'let a;');
writeFileSync(join(folder, 'web/notes.txt'), 'not served');
writeFileSync(join(folder, 'secret.html'), 'not below the folder');

it('serves the files of the page, and nothing else', async () => {
  const app = fastify();
  addPageRoutes(app, readPageFiles(join(folder, 'web')) as PageFiles);
  const get = async (url: string) => {
    const { statusCode, headers, body } = await app.inject({ url });
    return [statusCode, headers['content-type'], headers['cache-control'], body];
  };
  expect(await get('/')).toEqual([200, 'text/html; charset=utf-8', 'no-cache', '<title>page</title>']);
  expect(await get('/assets/a-1.js')).toEqual([
    200,
    'text/javascript; charset=utf-8',
    'public, max-age=31536000, immutable',
    'let a;',
  ]);
  for (const url of ['/notes.txt', '/../secret.html', '/..%2fsecret.html', '/assets/../../secret.html']) {
    expect((await get(url))[0], url).toBe(404);
  }
});

it('reports a page that is not built', () => {
  expect(readPageFiles(join(folder, 'nowhere'))).toBeUndefined();
  expect(readPageFiles(join(folder, 'web/assets'))).toBeUndefined();
});
