import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { ClusterAccess } from './cluster-access.ts';
import { loadAccess } from './kubeconfig-access.ts';
import { createTransport } from './transport.ts';

const folder = mkdtempSync(join(tmpdir(), 'kymera-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());
const base64 = (value: string) => Buffer.from(value).toString('base64');

function write(name: string, user: string, { server = 'https://10.0.0.1:6443/', cluster = '' } = {}): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    `
current-context: one
clusters:
- name: c
  cluster: {server: "${server}", certificate-authority-data: ${base64('CA')}${cluster}}
users:
- name: u
  user: ${user}
contexts:
- name: one
  context: {cluster: c, user: u, namespace: team}
`,
  );
  return file;
}

/** The headers, and the TLS options as strings. */
async function sent(access: ClusterAccess) {
  const { agent, headers } = await access.settings();
  const { ca, cert, key, servername, rejectUnauthorized } = (
    agent as unknown as { options: Record<string, unknown> }
  ).options;
  const tls = Object.entries({ ca, cert, key, servername, rejectUnauthorized }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return { headers, tls: Object.fromEntries(tls.map(([name, value]) => [name, String(value)])) };
}

const jwt = (exp: number) =>
  ['{"alg":"none"}', JSON.stringify({ exp }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const oidc = (token: string) =>
  `{auth-provider: {name: oidc, config: {id-token: "${token}", client-id: k, refresh-token: r, idp-issuer-url: "https://127.0.0.1:1"}}}`;

describe('access by a kubeconfig', () => {
  const validToken = jwt(Date.now() / 1000 + 600);

  it.each([
    ['a token', '{token: T}', { Authorization: 'Bearer T' }, {}],
    ['user name and password', '{username: u, password: p}', { Authorization: `Basic ${base64('u:p')}` }, {}],
    [
      'a certificate',
      `{client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}}`,
      {},
      { cert: 'CERT', key: 'KEY' },
    ],
    [
      'certificate files with relative paths',
      '{client-certificate: cert.pem, client-key: key.pem}',
      {},
      { cert: 'FILE\n', key: 'FILE\n' },
    ],
    ['a token file', '{tokenFile: cert.pem, token: OTHER}', { Authorization: 'Bearer FILE' }, {}],
    ['impersonation', '{token: T, as: jane}', { Authorization: 'Bearer T', 'Impersonate-User': 'jane' }, {}],
    ['an unexpired OIDC token', oidc(validToken), { Authorization: `Bearer ${validToken}` }, {}],
    [
      'an exec plugin',
      `{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, 'echo "{\\"status\\":{\\"token\\":\\"$WORD\\"}}"'], env: [{name: WORD, value: W}]}}`,
      { Authorization: 'Bearer W' },
      {},
    ],
    ['no user', '{}', {}, {}],
  ])('authenticates with %s', async (_, user, headers, tls) => {
    for (const name of ['cert.pem', 'key.pem']) writeFileSync(join(folder, name), 'FILE\n');
    const access = await loadAccess({ kubeconfig: write('config', user) });
    expect(access).toMatchObject({ server: 'https://10.0.0.1:6443', namespace: undefined });
    expect(await sent(access)).toEqual({ headers, tls: { ca: 'CA', ...tls } });
  });

  it('applies the TLS options of the cluster', async () => {
    const cluster = ', tls-server-name: api.example, insecure-skip-tls-verify: true';
    const access = await loadAccess({ kubeconfig: write('tls', '{token: T}', { cluster }) });
    expect((await sent(access)).tls).toEqual({
      ca: 'CA',
      servername: 'api.example',
      rejectUnauthorized: 'false',
    });
  });

  it('takes the named context, and the first definition of an entry, from several files', async () => {
    const first = write('first', '{token: A}');
    const second = join(folder, 'second');
    writeFileSync(
      second,
      'current-context: two\nclusters: [{name: d, cluster: {server: "https://d"}}]\ncontexts: [{name: two, context: {cluster: d, user: u}}]\nusers: [{name: u, user: {token: B}}]\n',
    );
    const env = { KUBECONFIG: [join(folder, 'missing'), first, second].join(delimiter) };
    const access = await loadAccess({ context: 'two', env });
    expect(access.server).toBe('https://d');
    expect((await sent(access)).headers).toEqual({ Authorization: 'Bearer A' });
    expect((await loadAccess({ env })).server).toBe('https://10.0.0.1:6443');
  });

  it.each([
    ['a missing file', { kubeconfig: join(folder, 'none') }, /no kubeconfig can be read/],
    ['an unknown context', { kubeconfig: write('known', '{}'), context: 'other' }, /no context "other"/],
    ['an auth-provider', { kubeconfig: write('gcp', '{auth-provider: {name: gcp}}') }, /use an exec plugin/],
  ])('refuses %s', async (_, options, message) => {
    await expect(loadAccess(options)).rejects.toThrow(message);
  });

  it.each([
    [
      'an expired OIDC token',
      oidc(jwt(1_000_000_000)),
      /expired at 2001-09-09.*exec plugin such as kubelogin/,
    ],
    ['an OIDC user without a token', '{auth-provider: {name: oidc}}', /no id-token.*exec plugin/],
    ['a token that is not a JWT', oidc('abc'), /not a JWT/],
    ['a missing certificate file', '{client-certificate: none.pem}', /cannot be read: ENOENT/],
    ['a plugin that does not exist', '{exec: {command: /none}}', /exec plugin \/none failed: .*ENOENT/],
    [
      'a plugin that fails',
      `{exec: {command: sh, args: [-c, 'echo "log in first" >&2; exit 3']}}`,
      /exec plugin sh failed: log in first$/,
    ],
    [
      'output of a plugin that is not JSON, without quoting it',
      `{exec: {command: sh, args: [-c, 'echo SECRET']}}`,
      /^the exec plugin sh did not print an ExecCredential as JSON$/,
    ],
  ])('refuses %s', async (_, user, message) => {
    const access = await loadAccess({ kubeconfig: write('refused', user) });
    await expect(access.settings()).rejects.toThrow(message);
  });

  it('kills a plugin that does not answer in time', async () => {
    const file = join(folder, 'pid');
    const user = `{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, "echo $$ > ${file}; exec sleep 1000"]}}`;
    const access = await loadAccess({ kubeconfig: write('slow', user), pluginTimeoutMs: 2_000 });
    await expect(access.settings()).rejects.toThrow('no credentials within 2 seconds');
    const pid = Number(readFileSync(file, 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 15_000 });
  });

  it('uses the proxy of the environment unless the kubeconfig names one', async () => {
    const env = { HTTPS_PROXY: 'http://proxy.example:3128' };
    const proxyOf = async (access: ClusterAccess) =>
      String((await access.settings()).agent['proxy' as keyof object] ?? '');
    const user = '{token: T}';
    expect(await proxyOf(await loadAccess({ kubeconfig: write('p1', user), env }))).toContain(
      'proxy.example',
    );
    const named = write('p2', user, { cluster: ', proxy-url: "http://other.example:1"' });
    expect(await proxyOf(await loadAccess({ kubeconfig: named, env }))).toContain('other.example');
    const excluded = { ...env, NO_PROXY: '10.0.0.0/8' };
    expect(await proxyOf(await loadAccess({ kubeconfig: write('p3', user), env: excluded }))).toBe('');
  });

  it('passes KUBERNETES_EXEC_INFO to a plugin, which a relative path names, and runs it once for many requests', async () => {
    const plugin = join(folder, 'plugin.sh');
    const output = `echo "$KUBERNETES_EXEC_INFO" >> ${folder}/info; echo '{"status":{"token":"T"}}'`;
    writeFileSync(plugin, `#!/bin/sh\n${output}\n`, { mode: 0o755 });
    const user = '{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin.sh}}';
    const access = await loadAccess({ kubeconfig: write('plugin', user) });
    const [one, two] = await Promise.all([access.settings(), access.settings()]);
    expect(one).toBe(two);
    await access.settings();
    const lines = readFileSync(join(folder, 'info'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        spec: { cluster: { server: 'https://10.0.0.1:6443' } },
      },
    ]);
  });
});

describe('access in a Pod', () => {
  it('uses the service account', async () => {
    const account = join(folder, 'pod', 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(account, { recursive: true });
    for (const [name, value] of [
      ['token', 'T\n'],
      ['ca.crt', 'CA'],
      ['namespace', 'ns'],
    ] as const)
      writeFileSync(join(account, name), value);
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00::1');
    vi.stubEnv('KUBERNETES_SERVICE_PORT', '443');
    vi.stubEnv('KUBECONFIG', '');
    const access = await loadAccess({}, join(folder, 'pod'));
    expect(access).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'ns' });
    expect(await sent(access)).toEqual({ headers: { Authorization: 'Bearer T' }, tls: { ca: 'CA' } });
  });
});

describe('connections of an access', () => {
  /** Answers 401 to the first token. */
  async function startServer() {
    const connections = new Set<unknown>();
    const tokens: string[] = [];
    const server = createServer((request, response) => {
      connections.add(request.socket);
      tokens.push(request.headers.authorization ?? '');
      response.writeHead(request.headers.authorization === 'Bearer T1' ? 401 : 200).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, connections, tokens, port: (server.address() as AddressInfo).port };
  }
  const get = { method: 'GET', path: '/', timeoutMs: 2_000 };

  it('are reused, although the agents of the library close theirs', async () => {
    const { server, connections, port } = await startServer();
    const access = await loadAccess({
      kubeconfig: write('plain', '{token: T}', { server: `http://127.0.0.1:${port}` }),
    });
    const transport = createTransport(access);
    for (let count = 0; count < 3; count += 1) await transport.send(get);
    expect(connections.size).toBe(1);
    transport.close();
    server.close();
  });

  it('get new credentials after a 401', async () => {
    const { server, tokens, port } = await startServer();
    const counter = join(folder, 'counter');
    writeFileSync(counter, '');
    const print = `echo x >> ${counter}; n=$(wc -l < ${counter}); echo "{\\"status\\":{\\"token\\":\\"T$((n))\\"}}"`;
    const user = JSON.stringify({ exec: { command: 'sh', args: ['-c', print] } });
    const access = await loadAccess({
      kubeconfig: write('renewed', user, { server: `http://127.0.0.1:${port}` }),
    });
    const transport = createTransport(access);
    expect((await transport.send(get)).status).toBe(200);
    expect(tokens).toEqual(['Bearer T1', 'Bearer T2']);
    transport.close();
    server.close();
  });

  it.each(['http', 'socks5'])('end at the deadline if a %s proxy does not answer', async (scheme) => {
    const proxy = createTcpServer(() => {});
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const cluster = `, proxy-url: "${scheme}://127.0.0.1:${(proxy.address() as AddressInfo).port}"`;
    const access = await loadAccess({ kubeconfig: write('silent', '{token: T}', { cluster }) });
    const transport = createTransport(access);
    await expect(transport.send({ ...get, timeoutMs: 200 })).rejects.toThrow(
      /no response before the deadline/,
    );
    transport.close();
    proxy.close();
  });
});
