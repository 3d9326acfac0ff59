import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import {
  labelPolicy,
  patchIn,
  pod,
  policyText,
  responseIn,
  reviewOf,
  send,
} from './running-server.testing.ts';
import { makeClient, makeServing } from './self-signed.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Served {
  readonly folder: string;
  readonly url: string;
  readonly ca: string;
  readonly child: ChildProcess;
  output(): string;
  readonly post: (object?: typeof pod) => ReturnType<typeof send>;
  readonly get: (path: string) => Promise<string>;
}

/** Runs the built program in a folder with these files, until it serves. */
async function serve(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-serve-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const argv = ['serve', '--policies', 'policies', '--state-dir', 'state', '--port', '0', ...args];
  const child = spawn(process.execPath, [join(root, 'bin/kymera'), ...argv], { cwd: folder });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await until(
    () => /^curl .*\/mutate \|/m.test(output) || child.exitCode !== null,
    () => output,
  );
  const url = /on (https:\S+)\/mutate/.exec(output)?.[1] ?? '';
  const ca = existsSync(join(folder, 'ca.crt'))
    ? readFileSync(join(folder, 'ca.crt'), 'utf8')
    : readFileSync(join(folder, 'state', 'ca.crt'), 'utf8');
  return {
    folder,
    url,
    ca,
    child,
    output: () => output,
    post: (object = pod) =>
      send(`${url}/mutate`, { ca, method: 'POST', body: Buffer.from(JSON.stringify(reviewOf(object))) }),
    get: async (path) => (await send(`${url}${path}`, { ca, method: 'GET' })).text,
  };
}

async function until(holds: () => boolean | Promise<boolean>, describe = () => ''): Promise<void> {
  const endsAt = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > endsAt) throw new Error(`it did not come to pass; ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const labels = (value: object) => [{ op: 'add', path: '/metadata/labels', value }];
const patchText = async (served: Served) => JSON.stringify(patchIn(await served.post()));

describeUnless(unlessBuilt('dist/cli/main.js'))('kymera serve', () => {
  it('prints its address, a line that shows the patch when it is pasted, and the next step', async () => {
    const served = await serve({ 'policies/a.yaml': labelPolicy('one', 'a: "1"') });
    const [line = ''] = /^curl .*$/m.exec(served.output()) ?? [];
    const answer = execFileSync('sh', ['-c', line], { cwd: served.folder, encoding: 'utf8' });
    expect(JSON.parse(answer)).toEqual([{ op: 'add', path: '/metadata/labels/a', value: '1' }]);
    expect(served.output()).toContain(`kymera serves 1 policy on ${served.url}/mutate\n`);
    expect(served.output()).toContain('Next:\n');
    expect(served.output()).not.toContain('kind: MutatingWebhookConfiguration');
  });

  it('shows an empty patch for policies that change nothing', async () => {
    const served = await serve({ 'policies/a.yaml': labelPolicy('one', '+(app): "1"') });
    const [line = ''] = /^curl .*$/m.exec(served.output()) ?? [];
    expect(JSON.parse(execFileSync('sh', ['-c', line], { cwd: served.folder, encoding: 'utf8' }))).toEqual(
      [],
    );
  });

  const configurationIn = (folder: string, ...more: string[]) => {
    const argv = ['serve', '--policies', 'policies', '--state-dir', 'state', '--print-webhook-configuration'];
    return spawnSync(process.execPath, [join(root, 'bin/kymera'), ...argv, ...more], {
      cwd: folder,
      encoding: 'utf8',
    });
  };
  const printConfiguration = (policies: string, ...more: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-serve-'));
    mkdirSync(join(folder, 'policies'));
    writeFileSync(join(folder, 'policies/a.yaml'), policies);
    return { ...configurationIn(folder, ...more), folder };
  };

  it('prints the webhook configuration with --print-webhook-configuration, and exits', () => {
    const { stdout, status, folder } = printConfiguration(labelPolicy('one', 'a: "1"'), '--port', '8443');
    expect(status).toBe(0);
    expect(parse(stdout)).toMatchObject({ kind: 'MutatingWebhookConfiguration' });
    expect(parse(stdout).webhooks[0].clientConfig).toEqual({
      url: 'https://127.0.0.1:8443/mutate/fail',
      caBundle: readFileSync(join(folder, 'state/ca.crt')).toString('base64'),
    });
    expect(printConfiguration(labelPolicy('one', 'a: "1"'), '--port', '0').status).toBe(2);
  });

  it('prints a configuration with the conditions of policies as they are', () => {
    const expression = "object.metadata.name.matches('^\\\\d+$HOME`id`$')";
    const spec = `webhookConfiguration: {matchConditions: [{name: x, expression: ${JSON.stringify(expression)}}]}`;
    const { stdout } = printConfiguration(labelPolicy('one', 'a: "1"', { spec }));
    expect(parse(stdout).webhooks[0].matchConditions[0].expression).toBe(expression);
  });

  it('reloads what changes, and keeps the last good version of a file that breaks', async () => {
    const served = await serve({
      'policies/a.yaml': labelPolicy('one', 'a: "1"'),
      'policies/b.yaml': labelPolicy('two', 'b: "1"'),
    });
    expect(patchIn(await served.post())).toEqual(labels({ a: '1', b: '1' }));

    writeFileSync(join(served.folder, 'policies/a.yaml'), labelPolicy('one', 'a: "2"'));
    await until(async () => (await patchText(served)).includes('"a":"2"'));

    writeFileSync(join(served.folder, 'policies/a.yaml'), `${labelPolicy('one', 'a: "3"')}    bogus: [`);
    await until(async () => (await served.get('/readyz?verbose')).includes('[-] policies/a.yaml'));
    expect(patchIn(await served.post())).toEqual(labels({ a: '2', b: '1' }));
    expect(await served.get('/readyz')).toBe('ok\n');
    expect(await served.get('/readyz?verbose')).toContain('its last valid policies are in use');
    await until(async () => /"level":"error".*policies\/a\.yaml:\d+/.test(served.output()));

    rmSync(join(served.folder, 'policies/b.yaml'));
    writeFileSync(join(served.folder, 'policies/a.yaml'), labelPolicy('one', 'a: "4"'));
    await until(async () => (await patchText(served)) === JSON.stringify(labels({ a: '4' })));
    expect(await served.get('/metrics')).toMatch(
      /kyverno_policy_changes_total\{.*policy_name="two".*"deleted"\} 1/,
    );
  });

  it.each([
    ['is not text', (file: string) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00])), 'not UTF-8'],
    ['is no object', (file: string) => writeFileSync(file, 'rubbish'), 'must be an object'],
    [
      'has its kind misspelled',
      (file: string) =>
        writeFileSync(file, labelPolicy('one', 'a: "2"').replace('ClusterPolicy', 'ClusterPolcy')),
      'one was a policy before; ClusterPolcy of kyverno.io/v1 is not a policy',
    ],
    [
      'is a link that leads nowhere',
      (file: string) => {
        rmSync(file);
        symlinkSync('/nowhere/at/all.yaml', file);
      },
      'cannot be read',
    ],
  ])(
    'a file that %s keeps its last good version, and the others do not wait for it',
    async (_, spoil, reason) => {
      const served = await serve({
        'policies/a.yaml': labelPolicy('one', 'a: "1"'),
        'policies/b.yaml': labelPolicy('two', 'b: "1"'),
      });
      const file = join(served.folder, 'policies/a.yaml');
      spoil(file);
      await until(async () => (await served.get('/readyz?verbose')).includes('[-] policies/a.yaml'));
      expect(await served.get('/readyz?verbose')).toContain(reason);
      writeFileSync(join(served.folder, 'policies/b.yaml'), labelPolicy('two', 'b: "2"'));
      await until(async () => (await patchText(served)) === JSON.stringify(labels({ a: '1', b: '2' })));
      rmSync(file);
      await until(async () => (await patchText(served)) === JSON.stringify(labels({ b: '2' })));
      expect(await served.get('/readyz?verbose')).not.toContain('[-]');
    },
  );

  it('reads context data from files, and reads them again', async () => {
    const configMap = (team: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {team: ${team}}\n`;
    const served = await serve(
      {
        'policies/a.yaml': policyText(
          'reads',
          `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
        ),
        'objects/settings.yaml': configMap('blue'),
      },
      '--context',
      'objects',
    );
    expect(patchIn(await served.post())).toEqual(labels({ team: 'blue' }));
    writeFileSync(join(served.folder, 'objects/settings.yaml'), configMap('red'));
    await until(async () => (await patchText(served)).includes('red'));

    writeFileSync(join(served.folder, 'objects/settings.yaml'), `${configMap('green')}  broken: [`);
    await until(async () => (await served.get('/readyz?verbose')).includes('[-] objects/settings.yaml'));
    expect(await patchText(served)).toContain('red');
    writeFileSync(join(served.folder, 'objects/rubbish.yaml'), Buffer.from([0xff, 0xfe]));
    writeFileSync(join(served.folder, 'objects/settings.yaml'), configMap('blue'));
    await until(async () => (await patchText(served)).includes('blue'));
    expect(await served.get('/readyz?verbose')).toContain('[-] objects/rubbish.yaml');
  });

  it('runs MutatingPolicies at /mutate and at the paths of the configuration it prints, never twice', async () => {
    const policy = `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: label}
spec:
  autogen: {podControllers: {controllers: []}}
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": gzip.decompress(gzip.compress("b"))}}]'
`;
    const files = { 'policies/label.yaml': policy };
    const { folder, url, ca, post } = await serve(files);
    const at = (path: string) =>
      send(`${url}${path}`, { ca, method: 'POST', body: Buffer.from(JSON.stringify(reviewOf(pod))) });
    expect(patchIn(await post())).toEqual(labels({ a: 'b' }));
    const { stdout } = configurationIn(folder, '--port', '8443');
    const [webhook] = parse(stdout).webhooks;
    expect(webhook.rules).toMatchObject([{ resources: ['pods'], operations: ['CREATE'] }]);
    const { pathname } = new URL(webhook.clientConfig.url);
    expect(patchIn(await at(pathname))).toEqual(labels({ a: 'b' }));
    // The path of ClusterPolicies.
    expect(patchIn(await at('/mutate/fail'))).toBeNull();
  });

  it('returns the warnings of CEL policies with the response', async () => {
    const policy = `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: nameless}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{spec: Object.spec{containers: [Object.spec.containers{image: "x"}]}}'
`;
    const { post } = await serve({ 'policies/nameless.yaml': policy });
    expect(responseIn(await post())).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('nameless.mutations: .spec.containers[0]: the item has no name')],
    });
  });

  it('runs a ClusterPolicy with a webhook of its own only there, and at /mutate', async () => {
    const conditions = `webhookConfiguration: {matchConditions: [{name: all, expression: 'true'}]}`;
    const files = {
      'policies/own.yaml': labelPolicy('own', 'own: "1"', { spec: conditions }),
      'policies/shared.yaml': labelPolicy('shared', 'shared: "1"'),
    };
    const { folder, url, ca, post } = await serve(files);
    const body = Buffer.from(JSON.stringify(reviewOf(pod)));
    expect(patchIn(await post())).toEqual(labels({ own: '1', shared: '1' }));
    const { webhooks } = parse(configurationIn(folder, '--port', '8443').stdout);
    const patches = [];
    for (const { clientConfig } of webhooks) {
      const { pathname } = new URL(clientConfig.url);
      patches.push(patchIn(await send(`${url}${pathname}`, { ca, method: 'POST', body })));
    }
    expect(patches).toEqual([labels({ shared: '1' }), labels({ own: '1' })]);
  });

  it('filters requests by its options', async () => {
    const served = await serve(
      { 'policies/a.yaml': labelPolicy('one', 'a: "1"') },
      '--resource-filters',
      '[Pod,shop,*]',
      '--exclude-groups',
      'system:nodes',
    );
    expect(patchIn(await served.post())).toBeNull();
    const elsewhere = { ...pod, metadata: { name: 'web', namespace: 'other' } };
    expect(patchIn(await served.post(elsewhere))).toEqual(labels({ a: '1' }));
  });

  it.each([
    ['of its authority', ['--ca-bundle', 'ca.crt'], 'ca.crt'],
    ['as its own authority', [], 'tls.crt'],
  ] as const)('names a certificate that it is given, %s, in all that it prints', async (_, args, trusted) => {
    const { ca, cert, key } = await makeServing(['127.0.0.1'], 10);
    const options = ['--tls-cert', 'tls.crt', '--tls-key', 'tls.key', ...args];
    const served = await serve(
      { 'policies/a.yaml': labelPolicy('one', 'a: "1"'), 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key },
      ...options,
    );
    const bundle = readFileSync(join(served.folder, trusted)).toString('base64');
    expect(configurationIn(served.folder, ...options).stdout).toContain(`caBundle: ${bundle}\n`);
    const [line = ''] = /^curl .*$/m.exec(served.output()) ?? [];
    expect(execFileSync('sh', ['-c', line], { cwd: served.folder, encoding: 'utf8' })).toContain(
      '/metadata/labels/a',
    );
  });

  it('says that callers must show a certificate where they must', async () => {
    const { cert, key } = await makeClient('the-api-server');
    const files = { 'policies/a.yaml': labelPolicy('one', 'a: "1"'), 'client.crt': cert, 'client.key': key };
    const served = await serve(files, '--client-ca', 'client.crt');
    const [line = ''] = /^curl .*$/m.exec(served.output()) ?? [];
    const mine = line.replace('YOUR.crt', 'client.crt').replace('YOUR.key', 'client.key');
    expect(execFileSync('sh', ['-c', mine], { cwd: served.folder, encoding: 'utf8' })).toContain(
      '/metadata/labels/a',
    );
  });

  it('takes a new certificate when its files change', async () => {
    const first = await makeServing(['127.0.0.1'], 10);
    const second = await makeServing(['127.0.0.1'], 10);
    const served = await serve(
      {
        'policies/a.yaml': labelPolicy('one', 'a: "1"'),
        'ca.crt': first.ca,
        'tls.crt': first.cert,
        'tls.key': first.key,
      },
      '--tls-cert',
      'tls.crt',
      '--tls-key',
      'tls.key',
    );
    expect(responseIn(await served.post()).allowed).toBe(true);
    for (const [name, text] of [
      ['tls.crt', second.cert],
      ['tls.key', second.key],
    ] as const) {
      writeFileSync(join(served.folder, `${name}.new`), text);
      renameSync(join(served.folder, `${name}.new`), join(served.folder, name));
    }
    await until(() =>
      send(`${served.url}/healthz`, { ca: second.ca, method: 'GET' }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });

  it('runs workers that share the port, the metrics and the decisions, and stops them all', async () => {
    const served = await serve(
      { 'policies/a.yaml': labelPolicy('one', 'a: "1"') },
      '--workers',
      '2',
      '--debug-decisions',
    );
    const answers = await Promise.all(Array.from({ length: 20 }, () => served.post()));
    for (const answer of answers) expect(patchIn(answer)).toEqual(labels({ a: '1' }));
    expect(await served.get('/metrics')).toMatch(/kyverno_admission_requests_total\{.*\} 20\n/);
    expect(JSON.parse(await served.get('/debug/decisions'))).toHaveLength(20);

    const workers = () =>
      spawnSync('ps', ['-o', 'pid=', '--ppid', String(served.child.pid)], { encoding: 'utf8' })
        .stdout.split(/\s+/)
        .filter(Boolean)
        .map(Number);
    for (const worker of workers()) {
      // Those that the worker was given when it died are lost with it.
      for (let count = 0; count < 10; count += 1) served.get('/metrics').catch(() => '');
      process.kill(worker, 'SIGKILL');
      await until(() => workers().length === 2 && !workers().includes(worker));
    }
    const expected = JSON.stringify(labels({ a: '1' }));
    await until(async () => (await patchText(served).catch(() => '')) === expected);

    const ended = new Promise((resolve) => served.child.once('exit', resolve));
    served.child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await expect(served.post()).rejects.toThrow();
  });

  it('stops after the delay', async () => {
    const served = await serve(
      { 'policies/a.yaml': labelPolicy('one', 'a: "1"') },
      '--shutdown-delay',
      '1.5',
    );
    const ended = new Promise((resolve) => served.child.once('exit', resolve));
    const toldAt = performance.now();
    served.child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(performance.now() - toldAt).toBeGreaterThan(1_400);
    await expect(served.post()).rejects.toThrow();
  });

  it('takes options from the environment, after those of the command line', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-serve-'));
    const ended = spawnSync(process.execPath, [join(root, 'bin/kymera'), 'serve', '--host', '127.0.0.1'], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        KYMERA_SERVE_HOST: 'not an address',
        KYMERA_SERVE_POLICIES: 'policies,nowhere',
        // As in a Pod beside a Service called kymera.
        KYMERA_PORT: 'tcp://10.0.0.1:443',
      },
    });
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain('there is no file or folder policies');
  });

  it.each([
    [['--shutdown-delay', 'long'], 'not a number of seconds'],
    [['--tls-cert', 'x.crt'], 'must be set together'],
    [['--port', '70000'], 'not a port'],
    [['--policies', 'nowhere', '--workers', '2'], 'there is no file or folder nowhere'],
    [['--policies', 'nowhere'], 'there is no file or folder nowhere'],
    [['--policies', 'policies', '--kubeconfig', 'x'], 'not from both'],
    [[], 'set --policies to serve files'],
  ])('%o ends with 2 and a reason', (args, reason) => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-serve-'));
    mkdirSync(join(folder, 'policies'));
    let status = 0;
    let stderr = '';
    try {
      execFileSync(process.execPath, [join(root, 'bin/kymera'), 'serve', ...args], {
        cwd: folder,
        stdio: 'pipe',
      });
    } catch (error) {
      ({ status, stderr } = error as { status: number; stderr: string });
    }
    expect([status, String(stderr)]).toEqual([2, expect.stringContaining(reason)]);
  });
});
