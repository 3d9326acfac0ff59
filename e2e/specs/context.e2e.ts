import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { type JsonService, startJsonService } from '../json-service.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag, waitFor } from '../wait-for.ts';

const image = { architecture: 'amd64', config: { Labels: { team: 'blue' } } };
const digest = `sha256:${createHash('sha256').update(JSON.stringify(image)).digest('hex')}`;

suite('context', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  let service: JsonService;
  let registry: JsonService;
  let trusted = '';
  before(async () => {
    const authority = await createAuthority('a service');
    trusted = authority.certificate;
    const pair = await authority.issue({ name: 'service', hosts: [settings.host] });
    service = await startJsonService(settings.host, {
      tls: { cert: pair.certificate, key: pair.key },
      answer: (path, body) => (path === '/never' ? undefined : { path, body }),
    });
    registry = await startJsonService(settings.host, {
      answer: (path) =>
        path.endsWith('/manifests/1.0')
          ? { schemaVersion: 2, config: { mediaType: 'application/json', digest } }
          : image,
    });
    server = await startClusterServer(settings, { args: ['--allow-host', settings.host] });
  });
  after(async () => {
    await Promise.all([service.close(), registry.close()]);
    await server.uninstall();
  });

  const resources = { namespaces: [namespace] };
  const withContext = (name: string, context: JsonObject, label: string, spec: JsonObject = {}) =>
    labelPolicy(
      name,
      'ConfigMap',
      { read: label },
      { resources, spec, rule: { context: [{ name: 'it', ...context }] } },
    );
  const labelOf = async (policy: JsonObject, name: string) =>
    withPolicies(kubectl, [policy], async () => {
      const { stdout } = await kubectl.sendOk('create', configMap(name), '-o', 'json');
      return JSON.parse(stdout).metadata.labels?.read;
    });

  it('is read from a ConfigMap, as it is at that moment', async () => {
    await kubectl.sendOk('create', configMap('source', { value: 'one' }));
    const policy = withContext(
      'from-config-map',
      { configMap: { name: 'source', namespace } },
      '{{ it.data.value }}',
    );
    await withPolicies(kubectl, [policy], async () => {
      const read = async () => {
        const { stdout } = await kubectl.sendOk(
          'create',
          configMap('reads'),
          '--dry-run=server',
          '-o',
          'json',
        );
        return JSON.parse(stdout).metadata.labels.read;
      };
      expect(await read()).toBe('one');
      await kubectl.ok('patch', 'configmap', 'source', '--type=merge', '-p', '{"data":{"value":"two"}}');
      await expect.poll(read).toBe('two');
    });
  });

  it('is read from the API server, by GET and by POST', async () => {
    const get = withContext(
      'by-get',
      { apiCall: { urlPath: `/api/v1/namespaces/${namespace}`, jmesPath: 'metadata.name' } },
      '{{ it }}',
    );
    expect(await labelOf(get, 'by-get')).toBe(namespace);
    const post = withContext(
      'by-post',
      {
        apiCall: {
          urlPath: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          method: 'POST',
          data: [
            { key: 'apiVersion', value: 'authorization.k8s.io/v1' },
            { key: 'kind', value: 'SelfSubjectAccessReview' },
            {
              key: 'spec',
              value: { resourceAttributes: { verb: 'get', resource: 'namespaces' } },
            },
          ],
        },
      },
      '{{ to_string(it.status.allowed) }}',
    );
    expect(await labelOf(post, 'by-post')).toBe('true');
  });

  it('is read from a service with a certificate of its own authority, and from no other', async () => {
    const call = (name: string, url: string, caBundle: string) =>
      withContext(
        name,
        { apiCall: { method: 'GET', service: { url, caBundle } } },
        "{{ replace_all(it.path, '/', '') }}",
        {
          failurePolicy: 'Ignore',
        },
      );
    const address = `https://${settings.host}:${service.port}`;
    expect(await labelOf(call('service', `${address}/a`, trusted), 'by-service')).toBe('a');
    const other = (await createAuthority('another')).certificate;
    expect(await labelOf(call('distrusted', `${address}/a`, other), 'distrusted')).toBeUndefined();
    expect(
      await labelOf(call('far-away', 'https://far-away.example/a', trusted), 'far-away'),
    ).toBeUndefined();
  });

  it.each([
    ['Fail', 1],
    ['Ignore', 0],
  ])(
    'that does not come in time is answered for in time, by failure policy %s',
    async (failurePolicy, code) => {
      const url = `https://${settings.host}:${service.port}/never`;
      const policy = withContext(
        `slow-${failurePolicy.toLowerCase()}`,
        { apiCall: { method: 'GET', service: { url, caBundle: trusted } } },
        '{{ it.path }}',
        // With conditions of its own a policy has a call, and a time, of its own.
        {
          webhookConfiguration: {
            timeoutSeconds: 2,
            failurePolicy,
            matchConditions: [{ name: 'all', expression: 'true' }],
          },
        },
      );
      await withPolicies(kubectl, [policy], async () => {
        const before = service.given();
        const answer = await kubectl.send('create', configMap(`slow-${code}`));
        expect(answer.code, answer.stderr).toBe(code);
        // Our own message: the API server did not time out, which it does after two seconds.
        expect(answer.stderr).toMatch(/context entry "it": no answer before the deadline/);
        expect(service.given()).toBeGreaterThan(before);
        await waitFor(() => service.open() === 0, { what: 'the call to be given up' });
      });
    },
  );

  it('is read from a registry', async () => {
    const reference = `${settings.host}:${registry.port}/org/app:1.0`;
    const policy = withContext(
      'from-registry',
      {
        imageRegistry: {
          reference,
          imageRegistryCredentials: { allowInsecureRegistry: true },
        },
      },
      '{{ it.configData.config.Labels.team }}',
    );
    expect(await labelOf(policy, 'by-registry')).toBe('blue');
  });

  it('is shared by a GlobalContextEntry, which reports its status', async () => {
    const entry = {
      apiVersion: 'kyverno.io/v2beta1',
      kind: 'GlobalContextEntry',
      metadata: { name: 'maps' },
      spec: {
        kubernetesResource: { version: 'v1', resource: 'configmaps', namespace },
        projections: [{ name: 'count', jmesPath: 'length(@)' }],
      },
    };
    await kubectl.sendOk('apply', entry);
    await kubectl.ok('wait', '--for=condition=Ready', 'globalcontextentry/maps', patienceFlag);
    const { status, metadata } = await kubectl.get('globalcontextentry', 'maps');
    expect(status).toMatchObject({ ready: true, lastRefreshTime: expect.stringMatching(/^\d{4}-/) });
    const policy = withContext(
      'from-global',
      { globalReference: { name: 'maps.count' } },
      '{{ to_string(it) }}',
    );
    expect(Number(await labelOf(policy, 'by-global'))).toBeGreaterThan(1);
    // Nothing changed: nothing was written.
    expect((await kubectl.get('globalcontextentry', 'maps')).metadata.resourceVersion).toBe(
      metadata.resourceVersion,
    );
    await kubectl.ok('delete', 'globalcontextentry', 'maps');
  });

  it('of an invalid GlobalContextEntry is refused with all problems', async () => {
    const answer = await kubectl.send('apply', {
      apiVersion: 'kyverno.io/v2beta1',
      kind: 'GlobalContextEntry',
      metadata: { name: 'wrong' },
      spec: {
        apiCall: { refreshInterval: '0s' },
        projections: [{ name: 'one', jmesPath: 'a[' }],
      },
    });
    expect(answer.code).toBe(1);
    for (const place of ['/spec/apiCall:', '/spec/apiCall/refreshInterval', '/spec/projections/0/jmesPath'])
      expect(answer.stderr).toContain(place);
  });
});
