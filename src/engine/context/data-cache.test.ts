import { describe, expect, it } from 'vitest';
import { type DataQuery, type DataSource, mutate } from '../../index.ts';
import { clusterPolicy, configMap, configMapRule, policySet } from '../policies.testing.ts';

/** Answers every query later, and remembers what it was asked. */
function slowSource(values: Record<string, string>): DataSource & { readonly asked: DataQuery[] } {
  const asked: DataQuery[] = [];
  return {
    asked,
    read(query) {
      asked.push(query);
      return new Promise((resolve) => {
        setTimeout(() => {
          if (query.type === 'configMap') {
            const value = values[query.name];
            if (value === undefined) resolve({ found: false, error: `ConfigMap ${query.name} is not there` });
            else resolve({ found: true, value: { metadata: { name: query.name }, data: { value } } });
          } else if (query.type === 'namespaceLabels') resolve({ found: true, value: { team: 'blue' } });
          else resolve({ found: false, error: 'no' });
        }, 1);
      });
    },
  };
}

const reading = (entry: string, map: string, label: string) =>
  configMapRule(
    `read-${entry}`,
    `{patchStrategicMerge: {metadata: {labels: {${label}: "{{ ${entry}.data.value }}"}}}}`,
    `context: [{name: ${entry}, configMap: {name: ${map}, namespace: default}}]`,
  );

describe('data that has to be fetched', () => {
  it('is awaited, and each object is requested once per request', async () => {
    const source = slowSource({ one: '1', two: '2' });
    const set = policySet(
      clusterPolicy('p', reading('a', 'one', 'a') + reading('b', 'two', 'b')),
      clusterPolicy('q', reading('c', 'one', 'c')),
    );
    const { object, outcomes } = await mutate(configMap('x'), set, { dataSource: source });
    expect(object?.['metadata']).toMatchObject({ labels: { a: '1', b: '2', c: '1' } });
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['applied', 'applied', 'applied']);
    expect(source.asked).toHaveLength(2);
  });

  it('is not requested if no expression reads it', async () => {
    const source = slowSource({});
    const set = policySet(
      clusterPolicy(
        'p',
        configMapRule(
          'unused',
          '{patchStrategicMerge: {metadata: {labels: {a: b}}}}',
          'context: [{name: gone, configMap: {name: gone, namespace: default}}]',
        ),
      ),
    );
    const { outcomes } = await mutate(configMap('x'), set, { dataSource: source });
    expect(outcomes[0]?.status).toBe('applied');
    expect(source.asked).toEqual([]);
  });

  it('fails the rule that reads it when it cannot be had', async () => {
    const set = policySet(clusterPolicy('p', reading('a', 'gone', 'a')));
    const { outcomes } = await mutate(configMap('x'), set, { dataSource: slowSource({}) });
    expect(outcomes[0]).toMatchObject({ status: 'failed', failure: { code: 'KYM_CONTEXT_FAILED' } });
    expect(outcomes[0]?.message).toContain('ConfigMap gone is not there');
  });

  it('serves namespaceSelector too', async () => {
    const rule = (name: string, team: string) => `- name: ${name}
  match: {any: [{resources: {kinds: [ConfigMap], namespaceSelector: {matchLabels: {team: ${team}}}}}]}
  mutate: {patchStrategicMerge: {metadata: {labels: {${name}: "yes"}}}}
`;
    const set = policySet(clusterPolicy('p', rule('blue', 'blue') + rule('red', 'red')));
    const { object } = await mutate(configMap('x'), set, { dataSource: slowSource({}) });
    expect(object?.['metadata']).toMatchObject({ labels: { blue: 'yes' } });
    expect(object?.['metadata']).not.toMatchObject({ labels: { red: 'yes' } });
  });
});
