import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority, issueServing } from '../../cluster/certificates/issuer.ts';
import { InputError } from '../../problem.ts';
import { isRemote, readRemote, remoteName } from './remote-file.ts';

let server: Server;
let origin = '';
let ca = '';
const requests: string[] = [];

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/policy.yaml': (response) => void response.end('kind: Policy\n'),
  '/moved': (response) => void response.writeHead(302, { location: '/policy.yaml' }).end(),
  '/around': (response) => void response.writeHead(302, { location: '/around' }).end(),
  '/plain': (response) => void response.writeHead(302, { location: 'http://127.0.0.1/policy.yaml' }).end(),
  '/page': (response) =>
    void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'),
  '/large': (response) => {
    // Without a length, so that only the bytes tell the size.
    response.write('a'.repeat(600));
    response.end('b'.repeat(600));
  },
  // Headers arrive, the body never does.
  '/silent': (response) => void response.write('kind: '),
};

beforeAll(async () => {
  const validity = { now: new Date(), days: 1 };
  const authority = await issueAuthority(validity);
  ca = authority.cert;
  const { cert, key } = await issueServing(authority, ['127.0.0.1'], validity);
  server = createServer({ cert, key }, (request: IncomingMessage, response) => {
    requests.push(request.url ?? '');
    const answer = answers[(request.url ?? '').replace(/\?.*/, '')];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const limits = { bytes: 1_000, milliseconds: 60_000, redirects: 3 };

async function read(address: string, more: Partial<typeof limits> & { ca?: string } = {}, offline = false) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readRemote(address, offline, { ...limits, ca, ...more })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function problemOf(reading: Promise<string>) {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return (error as InputError).problems[0];
}

describe('a file behind an https address', () => {
  it('is read, also after a redirect', async () => {
    expect(await read(`${origin}/policy.yaml`)).toBe('kind: Policy\n');
    expect(await read(`${origin}/moved`)).toBe('kind: Policy\n');
  });

  it.each([
    ['/none', 'the server answered 404 Not Found'],
    ['/around', 'there are more than 3 redirects'],
    ['/plain', 'the server redirects to an address without https'],
    ['/page', 'the address is a web page, not a file'],
    ['/large', 'the file is larger than 1000 bytes'],
  ])('%s: %s', async (path, message) => {
    expect(await problemOf(read(`${origin}${path}?token=secret`))).toMatchObject({
      code: 'KYM_INPUT_UNREADABLE',
      message,
      file: `${origin}${path}`,
    });
  });

  it('has a time limit for the whole transfer', async () => {
    expect(await problemOf(read(`${origin}/silent`, { milliseconds: 200 }))).toMatchObject({
      message: 'there was no complete answer in 0.2 s',
    });
  });

  it('is not read from a server whose certificate is not trusted', async () => {
    const other = await issueAuthority({ now: new Date(), days: 1 });
    expect(await problemOf(read(`${origin}/policy.yaml`, { ca: other.cert }))).toMatchObject({
      message: expect.stringContaining('the certificate of the server is not trusted'),
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    const named = origin.replace('127.0.0.1', 'localhost');
    expect(await problemOf(read(`${named}/policy.yaml`))).toMatchObject({
      message: expect.stringContaining('not trusted'),
    });
  });

  it.each(['http://127.0.0.1/p.yaml', 'https://user:word@127.0.0.1/p.yaml', 'https://'])(
    '%s is refused before a request',
    async (address) => {
      expect(await problemOf(read(address))).toMatchObject({ code: 'KYM_INPUT_UNREADABLE' });
    },
  );

  it('offline, no request is sent', async () => {
    const before = requests.length;
    expect(await problemOf(read(`${origin}/policy.yaml`, {}, true))).toMatchObject({
      message: '--offline forbids reading addresses',
    });
    expect(requests.length).toBe(before);
  });
});

it('addresses are recognized, and printed without secrets', () => {
  expect(['https://x/y', 'HTTP://x', 'a/https://x', 'https.yaml', '-'].map(isRemote)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(remoteName('https://u:p@example.com/a.yaml?token=t#f')).toBe('https://example.com/a.yaml');
});
