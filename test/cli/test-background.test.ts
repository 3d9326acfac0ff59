import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

const header = 'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\n';
const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: existing
    match: {any: [{resources: {kinds: [ConfigMap], names: [trigger]}}]}
    mutate:
      targets: [{apiVersion: v1, kind: Secret, namespace: "{{ request.namespace }}", name: "*"}]
      patchStrategicMerge: {metadata: {labels: {seen: "{{ request.object.data.value }}"}}}
  - name: made
    match: {any: [{resources: {kinds: [Namespace]}}]}
    generate:
      apiVersion: v1
      kind: ConfigMap
      name: defaults
      namespace: "{{ request.object.metadata.name }}"
      data: {data: {a: b}}
`;
const resources = `apiVersion: v1
kind: ConfigMap
metadata: {name: trigger, namespace: ns}
data: {value: x}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
`;
const targets = `apiVersion: v1
kind: Secret
metadata: {name: one, namespace: ns}
---
apiVersion: v1
kind: Secret
metadata: {name: done, namespace: ns, labels: {seen: x}}
---
apiVersion: v1
kind: Secret
metadata: {name: elsewhere, namespace: other}
`;
const files = (results: string, more: Readonly<Record<string, string>> = {}) => ({
  'policy.yaml': policy,
  'resources.yaml': resources,
  'targets.yaml': targets,
  'patched.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: one, namespace: ns, labels: {seen: x}}\n',
  'made.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: defaults, namespace: team}\ndata: {a: b}\n',
  ...more,
  'kyverno-test.yaml': `${header}policies: [policy.yaml]\nresources: [resources.yaml]\ntargetResources: [targets.yaml]\nresults:\n${results}`,
});
const run = async (results: string, more?: Readonly<Record<string, string>>) =>
  kymera(['test', '.'], { files: files(results, more) });

describe('kymera test', () => {
  it('tests rules for existing objects by their targets', async () => {
    const { exitCode, stdout } = await run(
      `- {policy: p, rule: existing, kind: Secret, resources: [one], patchedResources: patched.yaml, result: pass}
- {policy: p, rule: existing, kind: Secret, resources: [done], result: skip}
`,
    );
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(stdout).toContain('Secret ns/one');
    expect(stdout).toContain('2 passed, 0 failed');
  });

  it('tests them by the trigger too: every target has a row', async () => {
    const { exitCode, stdout } = await run(
      '- {policy: p, rule: existing, kind: ConfigMap, resources: [trigger], result: pass}\n',
    );
    expect(exitCode).toBe(1);
    expect(stdout).toContain('expected pass, got skip');
    expect(stdout).toContain('1 passed, 1 failed');
  });

  it('tests generate rules by their triggers; labels of the origin do not count', async () => {
    const row =
      '- {policy: p, rule: made, kind: Namespace, resources: [team], generatedResource: made.yaml, result: pass}\n';
    expect(await run(row)).toMatchObject({ exitCode: 0 });
    const other =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: defaults, namespace: team}\ndata: {a: c}\n';
    const { exitCode, stdout } = await run(row, { 'made.yaml': other });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('differs from made.yaml');
  });

  it('takes what is copied from a file of the result', async () => {
    const cloning = policy.replace('data: {data: {a: b}}', 'clone: {namespace: default, name: source}');
    const row =
      '- {policy: p, rule: made, kind: Namespace, resources: [team], cloneSourceResource: source.yaml, generatedResource: made.yaml, result: pass}\n';
    const source =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: source, namespace: default}\ndata: {a: b}\n';
    expect(await run(row, { 'policy.yaml': cloning, 'source.yaml': source })).toMatchObject({ exitCode: 0 });
    expect(await run(row, { 'policy.yaml': cloning })).toMatchObject({ exitCode: 1 });
  });

  it.each([
    ['a target in another namespace', 'existing, kind: Secret, resources: [elsewhere]'],
    ['what is no trigger', 'made, kind: ConfigMap, resources: [trigger]'],
  ])('fails for %s: nothing verifies it', async (_, what) => {
    const { exitCode, stdout } = await run(`- {policy: p, rule: ${what}, result: pass}\n`);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('0 passed, 1 failed');
  });
});
