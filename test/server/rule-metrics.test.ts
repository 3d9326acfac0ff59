import { describe, expect, it } from 'vitest';
import type { DataSource } from '../../src/engine/context/data-source.ts';
import { labelPolicy, pod, policyText, reviewOf, startTestServer } from './running-server.testing.ts';

const name = 'kyverno_policy_execution_duration_seconds';

describe('the time that rules take', () => {
  it('is a histogram for each rule and result, whatever the namespace and operation', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"'));
    for (const namespace of ['shop', 'bank', 'shop'])
      await server.post('/mutate', reviewOf({ ...pod, metadata: { name: 'x', namespace } }));
    const lines = (await server.get('/metrics')).text.split('\n').filter((line) => line.startsWith(name));
    const [count, ...others] = lines.filter((line) => line.startsWith(`${name}_count`));
    expect(others).toEqual([]);
    expect(count).toMatch(/policy_name="one".*rule_result="pass".*rule_type="mutate".*\} 3$/);
    expect(lines.join()).not.toMatch(/resource_namespace|resource_request_operation/);
    expect(lines.find((line) => line.includes('le="+Inf"'))).toMatch(/\} 3$/);
  });

  it('is also measured for rules in audit mode', async () => {
    const audited = labelPolicy('seen', 'a: "1"', { annotations: 'kymera.io/mode: audit' });
    const server = await startTestServer(`${audited}\n${labelPolicy('one', 'b: "1"')}`);
    await server.post('/mutate', reviewOf(pod));
    const { text } = await server.get('/metrics');
    for (const policy of ['seen', 'one']) {
      expect(text).toMatch(new RegExp(`^${name}_count\\{.*policy_name="${policy}".*\\} 1$`, 'm'));
    }
  });

  it('includes waiting for data', async () => {
    const slow: DataSource = {
      read: async () => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        return { found: true, value: { data: { team: 'blue' } } };
      },
    };
    const waiting = policyText(
      'waiting',
      `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
    );
    const server = await startTestServer(waiting, { dataSource: slow });
    await server.post('/mutate', reviewOf(pod));
    const sum = new RegExp(`^${name}_sum\\{.*\\} (\\S+)$`, 'm').exec(
      (await server.get('/metrics')).text,
    )?.[1];
    expect(Number(sum)).toBeGreaterThan(0.1);
  });
});

describe('rules that are loaded', () => {
  it('are reported with their type and the background setting of the policy', async () => {
    const generate = policyText(
      'makes',
      'generate: {apiVersion: v1, kind: ConfigMap, name: x, namespace: shop, data: {data: {a: b}}}',
      { kinds: 'Namespace' },
    );
    const server = await startTestServer(
      labelPolicy('one', 'a: "1"', { spec: 'background: false' }) + generate,
    );
    const lines = (await server.get('/metrics')).text
      .split('\n')
      .filter((line) => line.startsWith('kyverno_policy_rule_info_total'));
    expect(lines).toEqual([
      expect.stringMatching(/policy_background_mode="true".*policy_name="makes".*rule_type="generate"\} 1$/),
      expect.stringMatching(/policy_background_mode="false".*policy_name="one".*rule_type="mutate"\} 1$/),
    ]);
  });
});
