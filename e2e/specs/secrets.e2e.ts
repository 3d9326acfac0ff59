import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { grant, hasRight, revoke } from '../installation.ts';
import { mergePolicy } from '../objects.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { servedText } from '../served-text.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const mark = 'marked-s3cret-value';
const other = 'other-s3cret-value';
const encoded = (text: string) => Buffer.from(text).toString('base64');

suite('values of Secrets', ({ settings, kubectl, namespace, before, after }) => {
  const resources = { namespaces: [namespace] };
  const ignore = { failurePolicy: 'Ignore', emitWarning: true };
  const plain = '{{ base64_decode(request.object.data.token) }}';
  const source = { urlPath: `/api/v1/namespaces/${namespace}/secrets/source` };
  /** Rules that touch the value in every way that could leak it. */
  const policies: readonly JsonObject[] = [
    mergePolicy(
      'copies',
      'Secret',
      { data: { copy: '{{ request.object.data.token }}' } },
      { resources, spec: ignore },
    ),
    mergePolicy(
      'misreads',
      'Secret',
      { metadata: { labels: { n: '{{ base64_decode(request.object.data.token) | parse_json(@) }}' } } },
      { resources, spec: ignore },
    ),
    mergePolicy(
      'audits',
      'Secret',
      { stringData: { audited: plain } },
      { resources, spec: ignore, annotations: { 'kymera.io/mode': 'audit' } },
    ),
    mergePolicy(
      'reads-another',
      'ConfigMap',
      { metadata: { labels: { n: '{{ parse_json(base64_decode(it.data.token)) }}' } } },
      { resources, rule: { context: [{ name: 'it', apiCall: source }] } },
    ),
  ];
  let server: ClusterServer;
  before(async () => {
    await kubectl.ok('create', 'secret', 'generic', 'source', `--from-literal=token=${other}`);
    server = await startClusterServer(settings, {
      args: ['--log-level', 'debug', '--debug-decisions'],
    });
    await grant(kubectl, 'admission', 'e2e-secrets', [
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    ]);
    await hasRight(kubectl, 'admission', 'get', 'secrets');
    await applyPolicies(kubectl, policies);
  });
  after(async () => {
    await kubectl.sendOk('delete', policies);
    await revoke(kubectl, 'admission', 'e2e-secrets');
    await server.uninstall();
  });

  it('appear in no message, warning, event, log, metric, status or decision', async () => {
    // The API server hears of the webhook a moment after it was written.
    await waitFor(
      async () => {
        const args = [
          'create',
          'secret',
          'generic',
          'asked',
          '--dry-run=server',
          '--from-literal=token=none',
        ];
        return (await kubectl.run(args)).stderr.includes('copies');
      },
      { what: 'the policies' },
    );
    const secret = await kubectl.run([
      'create',
      'secret',
      'generic',
      'marked',
      `--from-literal=token=${mark}`,
    ]);
    expect(secret.code, secret.stderr).toBe(0);
    expect((await kubectl.get('secret', 'marked'))['data'].copy, secret.stderr).toBe(encoded(mark));
    const denied = await kubectl.run(['create', 'configmap', 'denied']);
    expect(denied.code).toBe(1);
    const events = await waitFor(
      async () => {
        const text = await kubectl.ok('get', 'events.events.k8s.io', '--all-namespaces', '-o', 'json');
        return ['misreads', 'audits'].every((name) => text.includes(name)) ? text : undefined;
      },
      { what: 'events' },
    );
    const [port = 0] = server.ports();
    const told = [
      secret.stdout + secret.stderr,
      denied.stdout + denied.stderr,
      events,
      server.output(0),
      await kubectl.ok('get', 'clusterpolicies.kyverno.io', '-o', 'json'),
      ...(await Promise.all(
        ['/metrics', '/readyz?verbose', '/debug/decisions'].map((path) =>
          servedText(server.host, port, path),
        ),
      )),
    ];
    const everything = told.join('\n');
    for (const text of [mark, other, encoded(mark), encoded(other)]) expect(everything).not.toContain(text);
    // What was searched does hold what it should.
    for (const name of ['copies', 'misreads', 'audits', 'reads-another']) expect(everything).toContain(name);
    expect(told.every((text) => text.length > 0)).toBe(true);
  });
});
