import { describe, expect, it } from 'vitest';
import { requestFor } from '../../admission/resource-request.ts';
import { loadDocuments } from '../../policy/load.ts';
import { createSnapshot } from '../../policy/registry/registry.ts';
import { mutate } from '../mutate.ts';
import type { DataSource } from './data-source.ts';

const rule = (name: string, map: string) => `
  - name: ${name}
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    context: [{name: map, configMap: {name: ${map}, namespace: ns}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {${name}: "{{ map.data.short }}"}}}}`;
const policy = (name: string, rules: string) => `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}}
spec:
  background: false
  rules:${rules}
---`;
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'ns' } };

/** Each ConfigMap holds a thousand bytes, and takes a moment to come. */
const dataSource: DataSource = {
  read: async () => ({ found: true, value: { data: { short: 'v', long: 'ü'.repeat(500) } } }),
};

async function outcomesOf(text: string, maxContextSize: number): Promise<readonly string[]> {
  const { policies } = loadDocuments([{ file: 'p.yaml', text }]);
  const snapshot = createSnapshot(policies, []);
  const { outcomes } = await mutate(requestFor(object), snapshot, { dataSource, maxContextSize });
  return outcomes.map(({ status, message }) => `${status}: ${message}`);
}

const applied = 'applied: mutated ConfigMap/c in namespace ns';

describe('what context entries hold', () => {
  const two = policy('one', rule('a', 'first')) + policy('two', rule('b', 'second'));

  it('is limited for a request as a whole, whatever rule loads it', async () => {
    const [first, second] = await outcomesOf(two, 1_500);
    expect(first).toBe(applied);
    expect(second).toMatch(
      /^failed: .*context size limit exceeded: 2\d\d\d bytes exceeds limit of 1500 bytes$/,
    );
  });

  it('is counted once, though a rule runs again when its data has come', async () => {
    expect(await outcomesOf(two, 2_200)).toEqual([applied, applied]);
  });

  it('has no limit when that is 0', async () => {
    expect(await outcomesOf(two, 0)).toEqual([applied, applied]);
  });
});
