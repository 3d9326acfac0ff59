import { describe, expect, it } from 'vitest';
import { defaultRequestSettings } from '../../src/admission/policy-provider.ts';
import type { DataSource } from '../../src/engine/context/data-source.ts';
import {
  labelPolicy,
  patchIn,
  pod,
  policyText,
  providerOf,
  responseIn,
  reviewOf,
  startTestServer,
} from './running-server.testing.ts';

const labels = (value: object) => [{ op: 'add', path: '/metadata/labels', value }];
const failing = (name: string, spec: string) =>
  policyText(
    name,
    `mutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.spec.absent }}"}}}}`,
    {
      spec,
    },
  );

describe('a review', () => {
  it('is answered with its uid, a base64 patch and the rules that applied', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"') + labelPolicy('two', 'b: "2"'));
    const answer = await server.post('/mutate', reviewOf(pod));
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(answer.text)).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: '5d1b0c1e-0000-4000-8000-000000000001',
        allowed: true,
        patchType: 'JSONPatch',
        auditAnnotations: { 'mutated-by': 'one/rule,two/rule' },
      },
    });
    expect(patchIn(answer)).toEqual(labels({ a: '1', b: '2' }));
  });

  it('without a change has no patch, no patchType and no annotation', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"', { kinds: 'Service' }));
    expect(responseIn(await server.post('/mutate', reviewOf(pod)))).toEqual({
      uid: '5d1b0c1e-0000-4000-8000-000000000001',
      allowed: true,
    });
  });

  it.each([
    ['/mutate', { i: '1', f: '1' }],
    ['/mutate/ignore', { i: '1' }],
    ['/mutate/fail', { f: '1' }],
    ['/mutate/ignore/finegrained/ignoring', { i: '1' }],
    ['/mutate/fail/finegrained/failing?timeout=5s', { f: '1' }],
    ['/mutate/fail/finegrained/shop/own', { own: '1' }],
  ])('at %s is about the policies of that path', async (path, expected) => {
    const own = labelPolicy('own', 'own: "1"')
      .replace('ClusterPolicy', 'Policy')
      .replace('name: own', 'name: own\n  namespace: shop');
    const server = await startTestServer(
      labelPolicy('ignoring', 'i: "1"', { spec: 'failurePolicy: Ignore' }) +
        labelPolicy('failing', 'f: "1"') +
        (path.includes('own') ? own : ''),
    );
    expect(patchIn(await server.post(path, reviewOf(pod)))).toEqual(labels(expected));
  });

  it('for a policy that is not there follows the failure policy of the path', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"'));
    expect(responseIn(await server.post('/mutate/fail/finegrained/gone', reviewOf(pod)))).toMatchObject({
      allowed: false,
      status: { message: 'mutation failed: there is no policy gone' },
    });
    expect(responseIn(await server.post('/mutate/ignore/finegrained/gone', reviewOf(pod)))).toMatchObject({
      allowed: true,
      warnings: ['there is no policy gone'],
    });
  });

  it.each([
    ['UPDATE', labels({ a: '1' })],
    ['CONNECT', null],
    ['DELETE', null],
  ])('of %s by a rule without operations', async (operation, expected) => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"'));
    const object = operation === 'DELETE' ? null : pod;
    const answer = await server.post('/mutate', reviewOf(pod, { operation, object, oldObject: pod }));
    expect(responseIn(answer).allowed).toBe(true);
    expect(patchIn(answer)).toEqual(expected);
  });

  it.each([
    ['[DELETE]', '', 'Fail', false],
    ["['*']", '', 'Fail', false],
    ['[DELETE]', '', 'Ignore', true],
    ['[DELETE]', "matchConditions: [{name: c, expression: 'has(object.metadata)'}], ", 'Fail', true],
    ['[CREATE]', '', 'Fail', true],
  ])(
    'of DELETE by a MutatingPolicy for %s with %s under %s: allowed is %s',
    async (operations, conditions, failurePolicy, allowed) => {
      const server =
        await startTestServer(`{apiVersion: policies.kyverno.io/v1, kind: MutatingPolicy, metadata: {name: p}, spec: {
      failurePolicy: ${failurePolicy}, ${conditions}matchConstraints: {resourceRules: [
        {apiGroups: [''], apiVersions: [v1], operations: ${operations}, resources: [pods]}]}, mutations: [
        {patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}'}}]}}`);
      const answer = await server.post(
        '/mutate',
        reviewOf(pod, { operation: 'DELETE', object: null, oldObject: pod }),
      );
      expect(responseIn(answer).allowed).toBe(allowed);
      expect(patchIn(answer)).toBeNull();
      if (!allowed) expect(responseIn(answer).status?.message).toContain('a request to DELETE has no object');
    },
  );

  it('of CONNECT is mutated where it is listed, with the body of the subresource', async () => {
    const policy = policyText('exec', 'mutate: {patchStrategicMerge: {container: sidecar}}', {
      kinds: 'Pod/exec',
      operations: 'CONNECT',
    });
    const server = await startTestServer(policy, {
      kindOfResource: ({ group, version }) => ({ group, version, kind: 'Pod' }),
    });
    const answer = await server.post(
      '/mutate',
      reviewOf(
        {
          apiVersion: 'v1',
          kind: 'PodExecOptions',
          metadata: { name: 'web', namespace: 'shop' },
          container: 'app',
        },
        {
          operation: 'CONNECT',
          subResource: 'exec',
          resource: { group: '', version: 'v1', resource: 'pods' },
        },
      ),
    );
    expect(patchIn(answer)).toEqual([{ op: 'replace', path: '/container', value: 'sidecar' }]);
  });

  it('on a dry run is answered in the same way, and counted as such', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"'));
    expect(patchIn(await server.post('/mutate', reviewOf(pod, { dryRun: true })))).toEqual(
      labels({ a: '1' }),
    );
    expect((await server.get('/metrics')).text).toMatch(/kyverno_policy_results_total\{.*dry_run="true"\} 1/);
  });

  it('gives one patch text for 300 identical requests', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1", b: "2"') + labelPolicy('two', 'c: "3"'));
    const texts = new Set<string>();
    // All at once would be more than a busy machine answers in time.
    for (let round = 0; round < 20; round += 1) {
      const answers = Array.from({ length: 15 }, () => server.post('/mutate', reviewOf(pod)));
      for (const { text } of await Promise.all(answers)) texts.add(text);
    }
    expect(texts.size).toBe(1);
  });
});

describe('a rule that fails', () => {
  it('under Fail denies the request and names policy, rule and place', async () => {
    const server = await startTestServer(
      failing('broken', 'failurePolicy: Fail') + labelPolicy('good', 'b: "2"'),
    );
    const response = responseIn(await server.post('/mutate/fail', reviewOf(pod)));
    expect(response.allowed).toBe(false);
    expect(response.patch).toBeUndefined();
    expect(response.status?.message).toBe(
      'mutation failed: policy broken, rule rule: variable substitution failed: failed to resolve request.object.spec.absent: Unknown key "absent" in path (rule /mutate/patchStrategicMerge/metadata/labels/a) [KYM_VARIABLE_UNRESOLVED]',
    );
    // kubectl prints warnings and the message: the failure appears once.
    expect(response.warnings).toBeUndefined();
  });

  it('under Fail keeps the warnings about other policies', async () => {
    const server = await startTestServer(
      failing('broken', 'failurePolicy: Fail') + failing('ignored', 'failurePolicy: Ignore'),
    );
    const response = responseIn(await server.post('/mutate', reviewOf(pod)));
    expect(response.allowed).toBe(false);
    expect(response.status?.message).not.toContain('policy ignored');
    expect(response.warnings).toEqual([expect.stringContaining('policy ignored.rule: ')]);
  });

  it('under Ignore leaves its policy out, with a warning', async () => {
    const server = await startTestServer(
      failing('broken', 'failurePolicy: Ignore') + labelPolicy('good', 'b: "2"'),
    );
    const answer = await server.post('/mutate', reviewOf(pod));
    expect(patchIn(answer)).toEqual(labels({ b: '2' }));
    expect(responseIn(answer)).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('policy broken.rule: ')],
      auditAnnotations: { 'mutated-by': 'good/rule' },
    });
  });

  it('of a policy with emitWarning is reported, and so is one that applies', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"', { spec: 'emitWarning: true' }));
    expect(responseIn(await server.post('/mutate', reviewOf(pod))).warnings).toEqual([
      'policy one.rule: mutated Pod/web in namespace shop',
    ]);
  });
});

describe('a bug in one rule', () => {
  it.each([
    ['a stack overflow', (): never => overflow()],
    ['a TypeError', (): never => (undefined as unknown as { call(): never }).call()],
    [
      'something that is not an error',
      (): never => {
        throw 'text';
      },
    ],
  ])('such as %s is the failed outcome of that rule, not an error of the review', async (_name, apply) => {
    const text =
      labelPolicy('buggy', 'a: "1"', { spec: 'failurePolicy: Ignore' }) + labelPolicy('good', 'b: "2"');
    const provider = providerOf(text);
    for (const { name, rules } of provider.current().all.policies) {
      const mutation = rules[0]?.mutation;
      if (name === 'buggy' && mutation?.type === 'patch') Object.assign(mutation.patch, { apply });
    }
    const server = await startTestServer(text, { provider });
    const answer = await server.post('/mutate', reviewOf(pod));
    expect(patchIn(answer)).toEqual(labels({ b: '2' }));
    expect(responseIn(answer).warnings).toEqual([
      expect.stringMatching(/^policy buggy\.rule: .*KYM_RULE_CRASHED/),
    ]);
  });
});

function overflow(): never {
  return overflow();
}

describe('the deadline', () => {
  const reading = (name: string, spec: string) =>
    policyText(
      name,
      `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
      { spec },
    );

  it.each([
    ['Fail', false],
    ['Ignore', true],
  ])('is kept when data never comes: under %s allowed is %s', async (failurePolicy, allowed) => {
    const given: unknown[] = [];
    const never: DataSource = {
      read: (_query, milliseconds) => {
        given.push(milliseconds);
        return new Promise(() => undefined);
      },
    };
    const server = await startTestServer(
      reading('waiting', `failurePolicy: ${failurePolicy}`) + labelPolicy('quick', 'a: "1"'),
      { dataSource: never },
    );
    const answer = await server.post('/mutate?timeout=5s', reviewOf(pod));
    // A tenth is reserved for the network.
    expect(given).toEqual([expect.toSatisfy((milliseconds: number) => milliseconds <= 4_500)]);
    const response = responseIn(answer);
    expect(response.allowed).toBe(allowed);
    expect(response.status?.message ?? response.warnings?.[0]).toMatch(
      /policy waiting.*no answer before the deadline.*\(rule \/context\/0\)|policy waiting.*no answer before the deadline/,
    );
    if (allowed) expect(patchIn(answer)).toEqual(labels({ a: '1' }));
  });

  it('lets data come that is slow but in time', async () => {
    const slow: DataSource = {
      read: () =>
        new Promise((resolve) =>
          setTimeout(() => resolve({ found: true, value: { data: { team: 'blue' } } }), 200),
        ),
    };
    const server = await startTestServer(reading('waiting', 'failurePolicy: Fail'), { dataSource: slow });
    expect(patchIn(await server.post('/mutate?timeout=10s', reviewOf(pod)))).toEqual(
      labels({ team: 'blue' }),
    );
  });
});

describe('audit mode', () => {
  const audited = { annotations: 'kymera.io/mode: audit' };

  it('computes the patch for the result of the other policies, applies nothing, and reports it', async () => {
    const sees = policyText(
      'sees',
      `preconditions: {all: [{key: "{{ request.object.metadata.labels.a || '' }}", operator: Equals, value: "1"}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {b: "2"}}, spec: {hostNetwork: false}}}`,
      audited,
    );
    const server = await startTestServer(sees + labelPolicy('x-enforced', 'a: "1"'), { keepDecisions: 5 });
    const answer = await server.post('/mutate', reviewOf(pod));
    expect(patchIn(answer)).toEqual(labels({ a: '1' }));
    expect(responseIn(answer)).toMatchObject({
      warnings: ['policy sees.rule (audit): would change /metadata/labels/b, /spec/hostNetwork'],
      auditAnnotations: { 'mutated-by': 'x-enforced/rule' },
    });
    const metrics = (await server.get('/metrics')).text;
    expect(metrics).toMatch(/kymera_audit_changes_total\{.*policy_name="sees".*\} 1/);
    const decisions = JSON.parse((await server.get('/debug/decisions')).text);
    expect(decisions[0].rules[1]).toMatchObject({
      policy: 'sees',
      mode: 'audit',
      patch: [
        { op: 'add', path: '/metadata/labels/b', value: '2' },
        { op: 'add', path: '/spec/hostNetwork', value: false },
      ],
    });
  });

  it('never denies', async () => {
    const broken = policyText(
      'broken',
      'mutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.spec.absent }}"}}}}',
      audited,
    );
    const server = await startTestServer(broken);
    const response = responseIn(await server.post('/mutate/fail', reviewOf(pod)));
    expect(response.allowed).toBe(true);
    expect(response.warnings?.[0]).toMatch(/^policy broken\.rule \(audit\): /);
  });
});

describe('settings of requests', () => {
  it('limit what context entries hold, and name the registry of images without one', async () => {
    const settings = {
      ...defaultRequestSettings,
      defaultRegistry: 'mirror.example:5000',
      maxContextSize: 40,
    };
    const server = await startTestServer(
      labelPolicy('registry', 'r: "{{ images.containers.*.registry | [0] | split(@, \':\') | [0] }}"') +
        policyText(
          'large',
          `context: [{name: big, variable: {value: "${'x'.repeat(100)}"}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {n: "{{ length(big) }}"}}}}`,
          { spec: 'failurePolicy: Ignore' },
        ),
      { settings: () => settings },
    );
    const answer = await server.post('/mutate', reviewOf(pod));
    expect(patchIn(answer)).toEqual(labels({ r: 'mirror.example' }));
    expect(responseIn(answer).warnings).toEqual([
      expect.stringMatching(/policy large.*context size limit exceeded: \d+ bytes exceeds limit of 40 bytes/),
    ]);
  });
});
