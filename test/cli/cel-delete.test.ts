import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy = (operations: string, more = '') => `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ${operations}, resources: [configmaps]}]
${more}  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{data: {"a": oldObject.data.k}}'}
`;
const files = {
  'policy.yaml': policy('[DELETE]'),
  'resources.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\ndata: {k: v}\n',
  'kyverno-test.yaml': `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [policy.yaml]
resources: [resources.yaml]
results:
- {policy: p, isMutatingPolicy: true, kind: ConfigMap, resources: [c], operation: DELETE, result: error}
`,
};
const deleting = ['--set', 'request.operation=DELETE'];

describe('on DELETE a MutatingPolicy sees an empty object, which it cannot change', () => {
  it('kymera apply fails', async () => {
    const { stderr, exitCode } = await kymera(['apply', 'policy.yaml', '-r', 'resources.yaml', ...deleting], {
      files,
    });
    expect(stderr).toContain('a request to DELETE has no object that an ApplyConfiguration could change');
    expect(exitCode).toBe(1);
  });

  it('kymera test expects an error', async () => {
    const { stdout, exitCode } = await kymera(['test', '.'], { files });
    expect(stdout).toContain('1 passed, 0 failed');
    expect(exitCode).toBe(0);
  });

  it('kymera explain shows what the expression read from the old object', async () => {
    const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'resources.yaml', ...deleting], {
      files,
    });
    expect(stdout).toContain('oldObject.data.k is "v"');
    expect(stdout).toContain('a request to DELETE has no object');
  });

  it.each([
    ['[DELETE]', '', /warning: mutations fail on DELETE.*so the policy denies deletions/],
    ["['*']", '', /List CREATE and UPDATE, or add the match condition/],
    ['[DELETE]', '  failurePolicy: Ignore\n', /so the policy has no effect/],
    ['[CREATE]', '', undefined],
    [
      '[DELETE]',
      '  matchConditions: [{name: c, expression: \'request.operation != "DELETE"\'}]\n',
      undefined,
    ],
  ])('kymera validate warns of %s %s', async (operations, more, expected) => {
    const { stdout, stderr } = await kymera(['validate', 'policy.yaml'], {
      files: { 'policy.yaml': policy(operations, more) },
    });
    if (expected === undefined) expect(stdout + stderr).not.toContain('DELETE, which');
    else expect(stdout + stderr).toMatch(expected);
  });

  it('a ClusterPolicy does not run, and explain says so', async () => {
    const clusterPolicy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate: {patchStrategicMerge: {data: {a: b}}}
`;
    const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'resources.yaml', ...deleting], {
      files: { ...files, 'policy.yaml': clusterPolicy },
    });
    expect(stdout).toContain('the object does not match');
    expect(stdout).toContain('the object has DELETE');
  });
});
