import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../json/value.ts';
import { readImage } from './registry-client.ts';
import { loginsOf } from './registry-credentials.ts';

const config = { architecture: 'amd64', config: { User: '1000' } };
const digestOf = (document: Json) =>
  `sha256:${createHash('sha256').update(JSON.stringify(document)).digest('hex')}`;
const manifest = { schemaVersion: 2, config: { digest: digestOf(config) } };
const index = {
  schemaVersion: 2,
  manifests: [
    { digest: 'sha256:other', platform: { os: 'linux', architecture: 'arm64' } },
    { digest: digestOf(manifest), platform: { os: 'linux', architecture: 'amd64' } },
  ],
};

/** A registry as the distribution specification describes it, which gives tokens to one user. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  if (url.pathname === '/token') {
    const isKnown = request.headers.authorization === `Basic ${Buffer.from('ann:pw').toString('base64')}`;
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ token: 'T' }));
    return;
  }
  if (url.pathname.startsWith('/v2/private/') && request.headers.authorization !== 'Bearer T') {
    const challenge = `Bearer realm="${url.origin}/token",service="r",scope="repository:private/app:pull"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
    return;
  }
  const path = url.pathname.replace(/^\/v2\/(private|public)\/app/, '');
  const documents: Readonly<Record<string, Json>> = {
    '/manifests/1.0': index,
    '/manifests/single': manifest,
    [`/manifests/${digestOf(manifest)}`]: manifest,
    '/blobs/moved': config,
  };
  if (path === `/blobs/${digestOf(config)}`) {
    response.writeHead(307, { location: `${url.origin}/v2/public/app/blobs/moved` }).end();
    return;
  }
  const document = documents[path];
  if (document === undefined) response.writeHead(404).end('SECRET');
  else response.writeHead(200, { 'docker-content-digest': digestOf(document) }).end(JSON.stringify(document));
}

let server: Server;
let host: string;
beforeAll(async () => {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

const limits = { allowedHosts: ['127.0.0.1'], timeoutMs: 5_000, maxBytes: 10_000 };
const read = (image: string, more: object = {}) =>
  readImage({ reference: `${host}/${image}`, insecure: true, ...more }, limits);

describe('data of an image', () => {
  it('contains manifest, configuration and the digest of a tag', async () => {
    expect(await read('public/app:single')).toEqual({
      found: true,
      value: {
        image: `${host}/public/app:single`,
        resolvedImage: `${host}/public/app@${digestOf(manifest)}`,
        registry: host,
        repository: 'public/app',
        identifier: 'single',
        manifest,
        configData: config,
      },
    });
  });

  it('holds the list of manifests, and that of linux on amd64', async () => {
    expect(await read('public/app:1.0')).toMatchObject({
      value: { manifestList: index, manifest, resolvedImage: `${host}/public/app@${digestOf(index)}` },
    });
  });

  it('is read with a name and a password if the registry requires them', async () => {
    const logins = new Map([[host, { username: 'ann', password: 'pw' }]]);
    expect(await read('private/app:1.0', { logins })).toMatchObject({ found: true });
    expect(await read('private/app:1.0')).toMatchObject({
      found: false,
      error: expect.stringContaining('the token server answered 401'),
    });
  });

  it('is not there for an image that is not; the answer is not quoted', async () => {
    const answered = await read('public/app:none');
    expect(answered).toEqual({
      found: false,
      error: `the registry ${host} cannot be read: it answered 404`,
      reason: 'the registry cannot be read',
    });
  });

  it('is not read from registries that are not allowed', async () => {
    expect(await readImage({ reference: 'nginx' }, limits)).toEqual({
      found: false,
      error: 'the registry docker.io is not among the allowed hosts',
      reason: 'the registry is not among the allowed hosts',
    });
  });

  it('is not read when it is too large', async () => {
    const small = { ...limits, maxBytes: 10 };
    expect(await readImage({ reference: `${host}/public/app:1.0`, insecure: true }, small)).toMatchObject({
      error: expect.stringContaining('larger than 10 bytes'),
    });
  });
});

describe('names and passwords', () => {
  it('come from a docker configuration', () => {
    const auths = {
      'https://index.docker.io/v1/': { auth: Buffer.from('ann:p:w').toString('base64') },
      'registry.example.com': { username: 'bob', password: 'x' },
    };
    const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
    expect([...loginsOf({ data })]).toEqual([
      ['docker.io', { username: 'ann', password: 'p:w' }],
      ['registry.example.com', { username: 'bob', password: 'x' }],
    ]);
  });
});
