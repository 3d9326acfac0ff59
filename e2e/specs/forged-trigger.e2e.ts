import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { becomes } from '../background.ts';
import { installCustomResources } from '../custom-resources.ts';
import { type InProcessServer, startInProcessServer } from '../in-process-server.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

/** Makes the creator of a namespace its admin. */
const policy: JsonObject = {
  apiVersion: 'kyverno.io/v1',
  kind: 'ClusterPolicy',
  metadata: { name: 'owner-is-admin' },
  spec: {
    background: false,
    rules: [
      {
        name: 'bind',
        match: {
          any: [{ resources: { kinds: ['Namespace'], selector: { matchLabels: { owned: 'yes' } } } }],
        },
        generate: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          name: 'owner',
          namespace: '{{ request.object.metadata.name }}',
          data: {
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
            subjects: [
              {
                apiGroup: 'rbac.authorization.k8s.io',
                kind: 'User',
                name: '{{ request.userInfo.username }}',
              },
            ],
          },
        },
      },
    ],
  },
};
const victim = 'forged-victim';

suite('a forged trigger', ({ settings, kubectl, before, after }) => {
  let server: InProcessServer;
  before(async () => {
    await installCustomResources(kubectl);
    await kubectl.sendOk('create', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: victim } });
    server = await startInProcessServer(settings, { background: { scanIntervalMs: 0 } });
    await applyPolicies(kubectl, [policy]);
  });
  after(async () => {
    await kubectl.send('delete', policy, '--ignore-not-found');
    await server.uninstall();
    await kubectl.ok('delete', 'namespace', victim, 'forged-honest', '--ignore-not-found', '--wait=false');
  });

  const review = (metadata: JsonObject, operation = 'CREATE') => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: victim, ...metadata } };
    return {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'forged',
        kind: { group: '', version: 'v1', kind: 'Namespace' },
        resource: { group: '', version: 'v1', resource: 'namespaces' },
        name: victim,
        namespace: victim,
        operation,
        userInfo: { username: 'mallory', groups: ['system:authenticated'] },
        object,
        ...(operation === 'UPDATE' ? { oldObject: object } : {}),
      },
    };
  };
  const labels = { owned: 'yes' };
  const bindings = async () => kubectl.list('rolebindings', `--namespace=${victim}`);

  it('is answered with 404 without the token in the path', async () => {
    for (const path of ['/validate', '/validate/fail', '/x/validate/fail', '//validate/fail'])
      expect((await server.post(path, review({ uid: 'u', labels }))).status, path).toBe(404);
  });

  it('is told from a real one, which works', async () => {
    await kubectl.sendOk('create', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'forged-honest', labels },
    });
    await becomes(
      kubectl.with('--namespace=forged-honest'),
      'rolebinding',
      'owner',
      ({ subjects }) => subjects?.length === 1,
    );
  });

  it('creates nothing even for somebody who knows the token', async () => {
    const [token = ''] = server.runtime.pathTokens?.() ?? [];
    const { uid } = (await kubectl.get('namespace', victim)).metadata as { uid?: string };
    const send = (metadata: JsonObject, operation?: string) =>
      server.post(`/${token}/validate/fail`, review(metadata, operation));
    for (const operation of ['CREATE', 'UPDATE']) {
      const { status, body } = await send({ labels }, operation);
      expect(status).toBe(200);
      expect(JSON.parse(body).response.warnings[0]).toContain('no metadata.uid');
      // Invented, and true: the stored object does not have the label.
      expect((await send({ labels, uid: 'invented' }, operation)).status).toBe(200);
      expect((await send({ labels, uid: uid ?? '' }, operation)).status).toBe(200);
    }
    await sleep(4_000);
    expect(await bindings()).toEqual([]);
  });
});
