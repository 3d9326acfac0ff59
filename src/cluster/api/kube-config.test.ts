import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inClusterAccess } from './in-cluster.ts';
import { findAccess } from './kube-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'kymera-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const base64 = (text: string) => Buffer.from(text).toString('base64');

function write(name: string, user: string, more = ''): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    `
current-context: one
clusters:
- name: c
  cluster: {server: "https://10.0.0.1:6443/", certificate-authority-data: ${base64('CA')}}
users:
- name: u
  user: ${user}
contexts:
- name: one
  context: {cluster: c, user: u, namespace: team}
${more}`,
  );
  return file;
}

describe('access by a kubeconfig', () => {
  it.each([
    ['a token', '{token: T}', { authorization: 'Bearer T' }],
    ['a name and a password', '{username: u, password: p}', { authorization: `Basic ${base64('u:p')}` }],
    [
      'a certificate',
      `{client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}}`,
      { cert: 'CERT', key: 'KEY' },
    ],
    ['files beside it', '{client-certificate: cert.pem, client-key: key.pem}', { cert: 'FILE', key: 'FILE' }],
    ['a file with a token', '{tokenFile: cert.pem}', { authorization: 'Bearer FILE' }],
    [
      'a plugin',
      `{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, 'echo "{\\"status\\":{\\"token\\":\\"$WORD\\"}}"'], env: [{name: WORD, value: W}]}}`,
      { authorization: 'Bearer W' },
    ],
  ])('signs in with %s', async (_, user, expected) => {
    for (const name of ['cert.pem', 'key.pem']) writeFileSync(join(folder, name), 'FILE');
    const access = await findAccess({ kubeconfig: write('config', user) });
    expect(access).toMatchObject({ server: 'https://10.0.0.1:6443', tls: { ca: 'CA' } });
    expect(await access.credentials()).toEqual(expected);
  });

  it('takes the context that is asked for, from several files', async () => {
    const first = write('first', '{token: A}');
    const second = join(folder, 'second');
    writeFileSync(
      second,
      'clusters: [{name: d, cluster: {server: "https://d"}}]\ncontexts: [{name: two, context: {cluster: d, user: u}}]\nusers: [{name: u, user: {token: B}}]\n',
    );
    const access = await findAccess({ context: 'two', env: { KUBECONFIG: [first, second].join(delimiter) } });
    expect(access.server).toBe('https://d');
    expect(await access.credentials()).toEqual({ authorization: 'Bearer A' });
  });

  it.each([
    ['a missing file', { kubeconfig: join(folder, 'none') }, /no kubeconfig can be read/],
    ['an unknown context', { kubeconfig: write('known', '{}'), context: 'other' }, /no context "other"/],
    ['an auth-provider', { kubeconfig: write('oidc', '{auth-provider: {name: oidc}}') }, /exec plugin/],
  ])('says what is wrong: %s', async (_, options, message) => {
    await expect(findAccess(options)).rejects.toThrow(message);
  });

  it('does not quote what a broken plugin says', async () => {
    const user = `{exec: {command: sh, args: [-c, 'echo SECRET']}}`;
    const access = await findAccess({ kubeconfig: write('broken', user) });
    await expect(access.credentials()).rejects.toThrow(/did not answer with JSON$/);
  });
});

describe('access in a pod', () => {
  it('is by its service account', async () => {
    const account = join(folder, 'account');
    mkdirSync(account);
    for (const [name, text] of [
      ['token', 'T\n'],
      ['ca.crt', 'CA'],
      ['namespace', 'ns'],
    ] as const)
      writeFileSync(join(account, name), text);
    const access = await inClusterAccess(
      { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
      account,
    );
    expect(access).toMatchObject({ server: 'https://[fd00::1]:443', tls: { ca: 'CA' }, namespace: 'ns' });
    expect(await access?.credentials()).toEqual({ authorization: 'Bearer T' });
  });

  it('is none outside', async () => {
    expect(await inClusterAccess({})).toBeUndefined();
  });
});
