import { expect, it } from 'vitest';
import type { DataSource } from '../../src/engine/context/data-source.ts';
import type { JsonObject } from '../../src/json/value.ts';
import {
  labelPolicy,
  patchIn,
  pod,
  policyText,
  reviewOf,
  startTestServer,
} from './running-server.testing.ts';

const mark = 'marked-s3cret-value';
const encoded = Buffer.from(mark).toString('base64');
const contextMark = 'context-s3cret-value';

const secret: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'token',
    namespace: 'shop',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"stringData":{"t":"${mark}"}}` },
  },
  type: 'Opaque',
  data: { token: encoded },
  stringData: { plain: mark },
};

const onSecrets = { kinds: 'Secret', spec: 'failurePolicy: Ignore\n  emitWarning: true' };
const apiCall = 'context: [{name: other, apiCall: {urlPath: "/api/v1/namespaces/shop/secrets/other"}}]';

/** Rules that touch the value in every way that could leak it. */
const policies = [
  policyText(
    'copies',
    `mutate: {patchStrategicMerge: {stringData: {copy: "{{ request.object.stringData.plain }}"}}}`,
    onSecrets,
  ),
  policyText(
    'number',
    `mutate: {patchStrategicMerge: {metadata: {labels: {n: "{{ parse_json(request.object.stringData.plain) }}"}}}}`,
    onSecrets,
  ),
  policyText(
    'decodes',
    `mutate: {patchStrategicMerge: {metadata: {labels: {n: "{{ base64_decode(request.object.data.token) | parse_json(@) }}"}}}}`,
    onSecrets,
  ),
  policyText(
    'names',
    `mutate: {patchStrategicMerge: {metadata: {labels: {n: "{{ request.object.data.\\"{{ request.object.stringData.plain }}\\" }}"}}}}`,
    onSecrets,
  ),
  policyText(
    'wants',
    `preconditions: {all: [{key: "{{ request.object.stringData.plain }}", operator: Equals, value: other, message: "got {{ request.object.stringData.plain }}"}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {n: "1"}}}}`,
    onSecrets,
  ),
  policyText(
    'patches',
    `mutate: {foreach: [{list: "request.object.data.*", patchesJson6902: "- {op: replace, path: /data/{{ request.object.stringData.plain }}/x, value: 1}"}]}`,
    onSecrets,
  ),
  policyText(
    'audits',
    `mutate: {patchStrategicMerge: {stringData: {audited: "{{ request.object.stringData.plain }}"}}}`,
    {
      ...onSecrets,
      annotations: 'kymera.io/mode: audit',
    },
  ),
  policyText(
    'denies',
    `mutate: {patchStrategicMerge: {metadata: {labels: {n: "{{ parse_json(request.object.stringData.plain) }}"}}}}`,
    { kinds: 'Secret' },
  ),
  policyText(
    'reads',
    `${apiCall}
    mutate: {patchStrategicMerge: {metadata: {labels: {n: "{{ other.data.value }}"}}}}`,
  ),
  policyText(
    'misreads',
    `${apiCall}
    mutate: {patchStrategicMerge: {metadata: {labels: {m: "{{ parse_json(other.data.value) }}"}}}}`,
    { spec: 'failurePolicy: Ignore' },
  ),
  labelPolicy('plain', 'a: "1"', { kinds: 'Secret' }),
].join('');

const dataSource: DataSource = {
  read: (query) =>
    query.type === 'apiCall'
      ? { found: true, value: { data: { value: contextMark } } }
      : { found: false, error: contextMark },
};

it('a value of a Secret appears in no log, warning, metric, message or decision', async () => {
  const server = await startTestServer(policies, { dataSource, keepDecisions: 100 });
  const seen: string[] = [];
  for (const [path, review] of [
    ['/mutate', reviewOf(secret)],
    ['/mutate/ignore', reviewOf(secret, { dryRun: true })],
    ['/mutate/ignore', reviewOf(secret, { operation: 'UPDATE', oldObject: secret })],
    ['/mutate/fail', reviewOf(secret)],
    ['/mutate/ignore/finegrained/copies', reviewOf(secret)],
    ['/mutate/ignore', reviewOf(pod)],
    ['/mutate/fail', reviewOf(pod)],
    ['/mutate?timeout=x', reviewOf(secret)],
  ] as const) {
    const answer = await server.post(path, review);
    // The patch is what the API server asked for: it alone may hold the value.
    const { patch: _, ...rest } = (JSON.parse(answer.text) as { response?: JsonObject }).response ?? {
      text: answer.text,
    };
    seen.push(JSON.stringify(rest));
  }
  const broken = JSON.stringify(reviewOf(secret)).slice(0, -1);
  seen.push(
    (await server.post('/mutate', broken)).text,
    (await server.post(`/mutate/${mark}`, broken.slice(1))).text,
  );
  for (const path of ['/metrics', '/readyz?verbose', '/debug/decisions'])
    seen.push((await server.get(path)).text);
  const everything = [...seen, server.logged()].join('\n').replaceAll(`/mutate/${mark}`, '');
  for (const text of [mark, encoded, contextMark]) expect(everything).not.toContain(text);
  // What was searched does hold what it should.
  for (const name of ['number', 'decodes', 'names', 'patches', 'misreads'])
    expect(everything).toContain(`policy ${name}.rule: `);
  expect(everything).toContain('policy audits.rule (audit): would change /stringData/audited');
  expect(everything).toContain('"policy": "copies"');
  expect(everything).toContain('"value": "***"');
});

it('the patch itself carries the value', async () => {
  const server = await startTestServer(policies, { dataSource });
  const answer = await server.post('/mutate/ignore/finegrained/copies', reviewOf(secret));
  expect(patchIn(answer)).toEqual([{ op: 'add', path: '/stringData/copy', value: mark }]);
});

it('decisions about other objects show values, and are kept only if enabled', async () => {
  const server = await startTestServer(labelPolicy('one', 'a: shown-value'), { keepDecisions: 2 });
  for (let count = 0; count < 3; count += 1) await server.post('/mutate', reviewOf(pod));
  const decisions = JSON.parse((await server.get('/debug/decisions')).text) as JsonObject[];
  expect(decisions).toHaveLength(2);
  expect(JSON.stringify(decisions)).toContain('shown-value');
  const other = await startTestServer(labelPolicy('one', 'a: "1"'));
  expect((await other.get('/debug/decisions')).status).toBe(404);
});
