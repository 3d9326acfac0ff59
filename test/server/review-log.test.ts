import { describe, expect, it } from 'vitest';
import {
  labelPolicy,
  pod,
  policyText,
  reviewOf,
  startTestServer,
  type TestServer,
} from './running-server.testing.ts';

/** The fields of the lines of reviews, without those that differ from run to run. */
function reviewLines(server: TestServer): unknown[] {
  return server
    .logged()
    .split('\n')
    .filter((line) => line.includes('"msg":"review"'))
    .map((line) => {
      const { time, µs, uid, ...fields } = JSON.parse(line);
      expect(new Date(time).toISOString()).toBe(time);
      expect(µs).toBeGreaterThan(0);
      expect(uid).toBe('5d1b0c1e-0000-4000-8000-000000000001');
      return fields;
    });
}

describe('the line of a review', () => {
  it('names the object, the verdict and the rules that applied', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"') + labelPolicy('two', 'b: "1"'));
    await server.post('/mutate', reviewOf(pod, { dryRun: true }));
    expect(reviewLines(server)).toEqual([
      {
        level: 'info',
        path: '/mutate',
        operation: 'CREATE',
        kind: 'Pod',
        namespace: 'shop',
        name: 'web',
        dryRun: true,
        allowed: true,
        applied: 'one/rule,two/rule',
        msg: 'review',
      },
    ]);
  });

  it('gives the rules that failed with the reasons, and those that only audit', async () => {
    const failing = policyText(
      'bad',
      'mutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.spec.nothing }}"}}}}',
    );
    const audited = labelPolicy('seen', 'a: "1"', { annotations: 'kymera.io/mode: audit' });
    const server = await startTestServer(failing + labelPolicy('one', 'b: "1"'));
    await server.post('/mutate', reviewOf(pod));
    const other = await startTestServer(audited);
    await other.post('/mutate', reviewOf(pod));
    expect(reviewLines(server)).toEqual([
      expect.objectContaining({
        allowed: false,
        failed: 'bad/rule',
        reasons: [expect.stringContaining('variable')],
      }),
    ]);
    expect(reviewLines(other)).toEqual([
      expect.objectContaining({ allowed: true, applied: '', audit: 'seen/rule' }),
    ]);
  });

  it('is JSON whatever the names contain', async () => {
    const server = await startTestServer(labelPolicy('one', 'a: "1"'));
    const name = 'quote " backslash \\ line\nbreak \u2028 é \ud800';
    await server.post('/mutate', reviewOf({ ...pod, metadata: { name, namespace: name } }));
    expect(reviewLines(server)).toEqual([expect.objectContaining({ name: name, kind: 'Pod' })]);
  });
});
