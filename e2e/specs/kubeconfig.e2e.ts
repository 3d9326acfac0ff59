import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BackgroundProcess, startBackgroundProcess } from '../background-process.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { type ConnectProxy, startConnectProxy, throughProxy } from '../connect-proxy.ts';
import { restartApiServer } from '../control-plane/start.ts';
import { kymera } from '../kymera.ts';
import { configMap, deployment, labelPolicy } from '../objects.ts';
import { type OidcIssuer, startOidcIssuer } from '../oidc-issuer.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

suite('an HTTP proxy of the kubeconfig', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-proxy-'));
  const policyFile = join(folder, 'policy.json');
  let proxy: ConnectProxy;
  let kubeconfig: string;
  let server: ClusterServer;
  let background: BackgroundProcess;

  before(async () => {
    const view = JSON.parse(await kubectl.ok('config', 'view', '--raw', '-o', 'json'));
    proxy = await startConnectProxy(new URL(view.clusters[0].cluster.server));
    const copy = join(folder, 'admin');
    writeFileSync(copy, readFileSync(settings.kubeconfig));
    kubeconfig = throughProxy(copy, proxy);
    server = await startClusterServer(settings, { proxy });
    background = await startBackgroundProcess(settings, { proxy });
    await kubectl.sendOk('create', [deployment('web'), configMap('settings', { a: 'b' })]);
    writeFileSync(
      policyFile,
      JSON.stringify(
        labelPolicy(
          'through-proxy',
          'ConfigMap',
          { seen: 'yes' },
          { resources: { namespaces: [namespace] } },
        ),
      ),
    );
    const kustomization = join(folder, 'kustomization');
    mkdirSync(kustomization);
    writeFileSync(join(kustomization, 'r.yaml'), JSON.stringify(configMap('settings', { a: 'b' })));
    writeFileSync(
      join(kustomization, 'kustomization.yaml'),
      JSON.stringify({ resources: ['r.yaml'], namespace }),
    );
  });
  after(async () => {
    await background.stop();
    await server.uninstall();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('carries every connection of kymera serve', async () => {
    const policy = labelPolicy(
      'proxied',
      'ConfigMap',
      { by: 'kymera' },
      { resources: { namespaces: [namespace] } },
    );
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.sendOk('create', configMap('mutated'));
      expect((await kubectl.get('configmap', 'mutated')).metadata.labels).toEqual({ by: 'kymera' });
    });
  });

  it('carries every connection of kymera background', async () => {
    await waitFor(async () => (await background.metrics()).includes('kyverno_client_queries_total'), {
      what: 'metrics of the background controller',
    });
  });

  it.each([
    ['apply', () => ['apply', policyFile, '--cluster', '-n', namespace], 0, /ConfigMap .*settings/],
    ['explain', () => ['explain', policyFile, '--cluster', '-n', namespace], 0, /settings/],
    ['diff', () => ['diff', join(folder, 'kustomization'), '--cluster'], 0, /^$/],
    ['existing plan', () => ['existing', 'plan', policyFile, '--cluster', '-n', namespace], 0, /./],
    ['existing apply', () => ['existing', 'apply', policyFile, '--cluster', '-n', namespace], 0, /./],
    ['rbac', () => ['rbac', policyFile, '--cluster'], 0, /ClusterRole|no rule/],
    ['doctor', () => ['doctor'], 0, /server of kymera-policy-validation answers/],
    ['cleanup', () => ['cleanup', '--namespace', 'kymera-absent'], 0, /./],
  ] as const)('carries the connections of kymera %s', async (_, args, code, output) => {
    const before = proxy.targets().length;
    const answer = await kymera(...args(), '--kubeconfig', kubeconfig);
    expect(answer.code, answer.stdout + answer.stderr).toBe(code);
    expect(answer.stdout + answer.stderr).toMatch(output);
    expect(proxy.targets().slice(before)).toContain('kubernetes.default.svc:6443');
  });

  it('is reported when it refuses connections', async () => {
    const path = throughProxy(join(folder, 'admin'), { ...proxy, url: 'http://127.0.0.1:1' });
    const { code, stderr } = await kymera('doctor', '--kubeconfig', path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot be reached: .*ECONNREFUSED/);
  });
});

suite('users of a kubeconfig', ({ settings, kubectl, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-users-'));
  after(async () => rmSync(folder, { recursive: true, force: true }));

  async function kubeconfigOf(user: object): Promise<string> {
    const view = JSON.parse(
      await kubectl.ok('config', 'view', '--raw', '--minify', '--flatten', '-o', 'json'),
    );
    const users = (view.users as readonly { name: string }[]).map(({ name }) => ({ name, user }));
    const path = join(folder, 'kubeconfig');
    writeFileSync(path, JSON.stringify({ ...view, users }), { mode: 0o600 });
    return path;
  }
  /** `doctor` reads; its exit code is 0 or 1 when it may. */
  const doctor = async (user: object) => kymera('doctor', '--kubeconfig', await kubeconfigOf(user));
  const plugin = (name: string, status: object): object => {
    const path = join(folder, name);
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
    writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`);
    chmodSync(path, 0o700);
    // A path relative to the kubeconfig.
    return {
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: `./${name}`, interactiveMode: 'Never' },
    };
  };

  it('authenticate with a token of an exec plugin', async () => {
    const token = (await kubectl.ok('create', 'token', 'default', '--duration=1h')).trim();
    const { stderr, code } = await doctor(plugin('token-plugin', { token }));
    // The API server knows the user, and refuses for want of permissions.
    expect(code).toBe(2);
    expect(stderr).toMatch(/User "system:serviceaccount:[^"]+:default" cannot list resource/);
  });

  it('authenticate with a client certificate of an exec plugin', async () => {
    const { user } = JSON.parse(readFileSync(settings.kubeconfig, 'utf8')).users[0];
    const decoded = (field: string) => Buffer.from(user[field], 'base64').toString('utf8');
    const { stdout, code } = await doctor(
      plugin('certificate-plugin', {
        clientCertificateData: decoded('client-certificate-data'),
        clientKeyData: decoded('client-key-data'),
      }),
    );
    expect(stdout).toMatch(/custom resource definitions/);
    expect(code).not.toBe(2);
  });

  it('are refused with the reason when an exec plugin fails', async () => {
    const failing = { exec: { command: 'sh', args: ['-c', 'echo "session expired" >&2; exit 1'] } };
    const { code, stderr } = await doctor(failing);
    expect(code).toBe(2);
    expect(stderr).toMatch(/exec plugin sh failed: session expired/);
  });

  describe('with OpenID Connect', () => {
    let issuer: OidcIssuer;
    const controlPlane = settings.controlPlane ?? '';
    const oidc = (token: string) => ({
      'auth-provider': {
        name: 'oidc',
        config: {
          'id-token': token,
          'client-id': 'kymera-e2e',
          'refresh-token': 'any',
          'idp-issuer-url': issuer.url,
        },
      },
    });
    beforeAll(async () => {
      if (controlPlane === '') return;
      issuer = await startOidcIssuer(controlPlane);
      await restartApiServer(controlPlane, 0, issuer.apiServerArguments);
    });
    afterAll(async () => {
      if (controlPlane === '') return;
      await restartApiServer(controlPlane);
      await issuer.close();
    });

    it('authenticate with an unexpired token', async ({ skip }) => {
      if (controlPlane === '') skip('flags of this API server cannot be changed');
      // The API server loads the keys of the issuer some time after its start.
      const { stderr } = await waitFor(
        async () => {
          const answer = await doctor(oidc(issuer.token('jane', 600)));
          return answer.stderr.includes('oidc:jane') ? answer : undefined;
        },
        { what: 'the API server to accept the token' },
      );
      expect(stderr).toMatch(/User "oidc:jane" cannot list resource/);
    });

    it('are refused with an expired token, without contacting the issuer, and with a hint at exec plugins', async ({
      skip,
    }) => {
      if (controlPlane === '') skip('flags of this API server cannot be changed');
      const { code, stderr } = await doctor(oidc(issuer.token('jane', -60)));
      expect(code).toBe(2);
      expect(stderr).toMatch(/expired at .* an exec plugin such as kubelogin renews tokens/);
    });
  });
});
