import { describe, expect, it } from 'vitest';
import { mutate } from '../index.ts';
import { clusterPolicy, configMap, configMapRule, policySet } from './policies.testing.ts';

const label = (key: string, value: string) =>
  `{patchStrategicMerge: {metadata: {labels: {${key}: "${value}"}}}}`;
const failing = `{patchStrategicMerge: {data: {copy: "{{ request.object.data.absent }}"}}}`;
const failingPlace = ['mutate', 'patchStrategicMerge', 'data', 'copy'];

describe('a policy is a transaction', () => {
  it('keeps nothing of a policy with a failed rule, and goes on with the next policy', async () => {
    const set = policySet(
      clusterPolicy('first', configMapRule('label', label('first', 'yes'))),
      clusterPolicy(
        'second',
        configMapRule('label', label('second', 'yes')) + configMapRule('broken', failing),
      ),
      clusterPolicy('third', configMapRule('label', label('third', 'yes'))),
    );
    const result = await mutate(configMap('a'), set);
    expect(result.object).toEqual({
      ...configMap('a'),
      metadata: { name: 'a', namespace: 'default', labels: { first: 'yes', third: 'yes' } },
    });
    expect(result.failedPolicies.map((policy) => policy.name)).toEqual(['second']);
  });

  it('still evaluates the rules after a failed one, on the object the rules before it made', async () => {
    const set = policySet(
      clusterPolicy(
        'p',
        configMapRule('one', label('one', '1')) +
          configMapRule('broken', failing) +
          configMapRule(
            'three',
            `{patchStrategicMerge: {metadata: {labels: {seen: "{{ request.object.metadata.labels.one }}"}}}}`,
          ),
      ),
    );
    const { object, outcomes } = await mutate(configMap('a'), set);
    expect(outcomes.map(({ rule, status }) => [rule.name, status])).toEqual([
      ['one', 'applied'],
      ['broken', 'failed'],
      ['three', 'applied'],
    ]);
    expect(object).toEqual(configMap('a'));
  });

  it('returns the very object it was given when nothing changes', async () => {
    const set = policySet(clusterPolicy('p', configMapRule('broken', failing)));
    const input = configMap('a');
    expect((await mutate(input, set)).object).toBe(input);
  });

  it('names variable, rule and place of a failure, but no value of the object', async () => {
    const set = policySet(clusterPolicy('p', configMapRule('broken', failing)));
    const { outcomes } = await mutate(configMap('a', { secret: 'MARKED' }), set);
    const [outcome] = outcomes;
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { code: 'KYM_VARIABLE_UNRESOLVED', stage: 'patch', rulePath: failingPlace },
    });
    expect(outcome?.message).toContain('request.object.data.absent');
    expect(outcome?.message).not.toContain('MARKED');
  });
});

describe('applyRules: One', () => {
  it('stops after the first rule that changed something', async () => {
    const set = policySet(
      clusterPolicy(
        'p',
        configMapRule('none', `{patchStrategicMerge: {data: {(kind): nothing}}}`) +
          configMapRule('one', label('one', '1')) +
          configMapRule('two', label('two', '2')),
        'applyRules: One',
      ),
    );
    const { object } = await mutate(configMap('a', { kind: 'x' }), set);
    expect(object?.['metadata']).toEqual({ name: 'a', namespace: 'default', labels: { one: '1' } });
  });
});

describe('identity', () => {
  it.each([
    [
      'metadata.name',
      `{patchesJson6902: '[{"op":"replace","path":"/metadata/name","value":"{{request.object.data.to}}"}]'}`,
    ],
    ['metadata.namespace', `{patchStrategicMerge: {metadata: {namespace: "{{request.object.data.to}}"}}}`],
    ['kind', `{patchStrategicMerge: {kind: "{{request.object.data.to}}"}}`],
  ])('a rule that changes %s fails', async (field, patch) => {
    const set = policySet(clusterPolicy('p', configMapRule('rename', patch)));
    const { object, outcomes } = await mutate(configMap('a', { to: 'other' }), set);
    expect(outcomes[0]).toMatchObject({ status: 'failed', failure: { code: 'KYM_IDENTITY_CHANGED' } });
    expect(outcomes[0]?.message).toContain(field);
    expect(object).toEqual(configMap('a', { to: 'other' }));
  });

  it('writing the value that is there is allowed', async () => {
    const set = policySet(
      clusterPolicy(
        'p',
        configMapRule(
          'same',
          `{patchStrategicMerge: {metadata: {name: "{{request.object.metadata.name}}", labels: {a: b}}}}`,
        ),
      ),
    );
    const { outcomes } = await mutate(configMap('a'), set);
    expect(outcomes[0]?.status).toBe('applied');
  });
});

describe('where a failure is', () => {
  const place = async (patch: string) => {
    const { outcomes } = await mutate(
      configMap('a', { k: 'v' }),
      policySet(clusterPolicy('p', configMapRule('r', patch))),
    );
    const [outcome] = outcomes;
    return outcome?.status === 'failed' ? outcome.failure.objectPath : outcome?.status;
  };

  it('is a path in the object when there is one', async () => {
    expect(await place('{patchStrategicMerge: {data: {k: {deeper: x}}}}')).toEqual(['data', 'k']);
  });

  it('is no path at all, rather than an empty one, when the object is not at fault', async () => {
    const source = '{kind: Secret, name: none}';
    expect(
      await place(
        `{replacements: [{source: ${source}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]}]}`,
      ),
    ).toBeUndefined();
  });
});
