import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { convertFile } from '../../src/cli/convert/file.ts';
import { type JsonObject, loadPolicies, mutate } from '../../src/index.ts';
import { oldPolicies, stubbornPolicies } from './convert-samples.testing.ts';
import { kymera } from './in-process.testing.ts';

const containers = [
  { name: 'a', image: 'nginx:latest', env: [{ name: 'LOG', value: 'debug' }] },
  { name: 'b', image: 'redis:7' },
];
const objects: readonly JsonObject[] = ['web', 'web-1', 'api'].flatMap((name) =>
  ['default', 'prod'].flatMap((namespace): JsonObject[] => {
    const metadata = { name, namespace, labels: { app: 'web', gone: 'x' } };
    const spec = {
      containers,
      initContainers: containers,
      restartPolicy: name === 'api' ? 'Never' : 'Always',
    };
    return [
      { apiVersion: 'v1', kind: 'Pod', metadata, spec },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers: [] } },
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template: { spec } } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { x: 'z' } } },
    ];
  }),
);
const users = [
  { info: { username: 'jane', groups: [] }, roles: [], clusterRoles: [] },
  { info: { username: 'jane', groups: [] }, roles: [], clusterRoles: ['cluster-admin'] },
  { info: { username: 'joe', groups: [] }, roles: [], clusterRoles: [] },
];

/** What a policy makes of every sample: the patch, and what became of its rules. */
async function resultsOf(text: string): Promise<unknown[]> {
  const set = loadPolicies({ file: 'p.yaml', text });
  expect(set.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const results: unknown[] = [];
  for (const object of objects) {
    for (const user of users) {
      for (const operation of ['CREATE', 'UPDATE'] as const) {
        const result = await mutate(object, set, { operation, user });
        results.push([result.patch, result.outcomes.map(({ status, rule }) => `${rule.name} ${status}`)]);
      }
    }
  }
  return results;
}

describe('a converted policy', () => {
  test.each(Object.entries(oldPolicies))('%s: gives what the old one gave', async (_, text) => {
    const converted = convertFile('p.yaml', text);
    expect(converted.problems).toEqual([]);
    expect(converted.text).not.toBe(text);
    const before = await resultsOf(text);
    expect(await resultsOf(converted.text)).toEqual(before);
    const [policy] = loadPolicies({ file: 'p.yaml', text: converted.text }).policies;
    const [old] = loadPolicies({ file: 'p.yaml', text }).policies;
    const settings = ({ failurePolicy, timeoutSeconds, key, rules }: NonNullable<typeof policy>) => ({
      failurePolicy,
      timeoutSeconds,
      key,
      rules: rules.map(({ name, mutateExistingOnPolicyUpdate }) => ({ name, mutateExistingOnPolicyUpdate })),
    });
    expect(policy?.apiVersion).toBe('kyverno.io/v1');
    expect(policy && settings(policy)).toEqual(old && settings(old));
  });

  test.each(Object.entries(oldPolicies))('%s: is not converted again', (_, text) => {
    const once = convertFile('p.yaml', text).text;
    expect(convertFile('p.yaml', once)).toMatchObject({ text: once, problems: [] });
  });

  it('some samples change objects, so that the comparison means something', async () => {
    for (const [name, text] of Object.entries(oldPolicies)) {
      if (name.startsWith('targets') || name.startsWith('fields')) continue;
      const patched = (await resultsOf(text)).filter((result) => JSON.stringify(result).includes('"op"'));
      expect(patched.length, name).toBeGreaterThan(0);
    }
  });

  test.each(Object.entries(stubbornPolicies))('%s: stays, with the reason', (_, { text, pointer }) => {
    const converted = convertFile('p.yaml', text);
    expect(converted.text).toBe(text);
    expect(converted.problems).toMatchObject([{ code: 'KYM_NOT_CONVERTED', severity: 'error', pointer }]);
  });

  test.each([
    ['{key: "{{ request.object.spec.accessModes }}", operator: In, value: [a]}'],
    ['{key: "{{ request.name }}", operator: NotIn, value: "a-b"}'],
  ])('keeps an operator that might compare in another way: %s', (condition) => {
    const text = (oldPolicies['a list of preconditions, old operators'] ?? '').replace(
      /- \{key: "\{\{ request.operation.*/,
      `- ${condition}`,
    );
    const converted = convertFile('p.yaml', text);
    expect(converted.problems).toMatchObject([{ code: 'KYM_NOT_CONVERTED', severity: 'warning', line: 10 }]);
    expect(converted.text).toContain(condition);
    expect(converted.text).toContain('NotEquals');
  });

  it('refuses to move what references point to', () => {
    const text = (oldPolicies['flat match and exclude'] ?? '').replace('a: b', 'a: $(/match/resources/name)');
    expect(convertFile('p.yaml', text)).toMatchObject({ text, problems: [{ code: 'KYM_NOT_CONVERTED' }] });
  });

  it('switches autogen off where the old dialect had none', () => {
    const { text } = convertFile('p.yaml', oldPolicies['v1alpha1: overlay'] ?? '');
    expect(text).toContain('annotations: {pod-policies.kyverno.io/autogen-controllers: none}');
  });
});

const commented = `# about this file
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name:   p      # its name
  annotations: {  a: b }
spec:
  # what if it fails
  failurePolicy: Ignore # nothing
  rules:
  - name: r

    match:
      # which
      resources:
        kinds:   # these
        - Pod
    mutate:
      patchStrategicMerge: { metadata: {labels: {a: 'b'}} }   # end
---
apiVersion: v1
kind:   ConfigMap   # not ours
`;
const commentedConverted = `# about this file
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name:   p      # its name
  annotations: {  a: b }
spec:
  # what if it fails
  webhookConfiguration:
    failurePolicy: Ignore # nothing
  rules:
  - name: r

    match:
      # which
      any:
      - resources:
          kinds:
          # these
          - Pod
    mutate:
      patchStrategicMerge: { metadata: {labels: {a: 'b'}} }   # end
---
apiVersion: v1
kind:   ConfigMap   # not ours
`;

describe('the text', () => {
  it('keeps comments, order and the look of lines that did not change', () => {
    expect(convertFile('p.yaml', commented).text).toBe(commentedConverted);
  });

  it('keeps the line ends of Windows', () => {
    const windows = commented.replaceAll('\n', '\r\n');
    expect(convertFile('p.yaml', windows).text).toBe(commentedConverted.replaceAll('\n', '\r\n'));
  });

  it('of JSON stays JSON', () => {
    const text =
      '{"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}, "spec": {"webhookTimeoutSeconds": 5, "rules": [{"name": "r", "match": {"resources": {"kinds": ["Pod"]}}, "mutate": {"patchStrategicMerge": {"metadata": {"labels": {"a": "1"}}}}}]}}';
    const { spec } = JSON.parse(convertFile('p.json', text).text);
    expect(spec).toMatchObject({
      webhookConfiguration: { timeoutSeconds: 5 },
      rules: [
        {
          match: { any: [{ resources: { kinds: ['Pod'] } }] },
          mutate: { patchStrategicMerge: { metadata: { labels: { a: '1' } } } },
        },
      ],
    });
  });

  it('converts the items of a List, and exceptions', () => {
    const item = (oldPolicies['flat match and exclude'] ?? '').trim().replaceAll('\n', '\n  ');
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${item}\n---\napiVersion: kyverno.io/v2beta1\nkind: PolicyException\nmetadata: {name: e, namespace: ns}\nspec: {match: {any: [{resources: {kinds: [Pod]}}]}, exceptions: [{policyName: p, ruleNames: [r]}]}\n`;
    const { text, documents } = convertFile('p.yaml', list);
    expect(documents).toBe(2);
    expect(text).toContain('    match:\n        any:\n');
    expect(text).toContain('apiVersion: kyverno.io/v2\n');
  });
});

describe('kymera convert', () => {
  const files = { 'p.yaml': commented };
  it('shows a diff and writes nothing', async () => {
    const { exitCode, stdout, stderr } = await kymera(['convert', 'p.yaml'], { files });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('--- p.yaml\n+++ p.yaml (converted)\n@@');
    expect(stdout).toContain('\n-  failurePolicy: Ignore # nothing\n+  webhookConfiguration:\n');
    expect(stderr).toBe('1 file to convert\n');
  });

  it('prints the result with -o yaml', async () => {
    expect((await kymera(['convert', '-', '-o', 'yaml'], { stdin: commented })).stdout).toBe(
      commentedConverted,
    );
  });

  it('ends with 1 when something could not be converted, and with 2 for bad input', async () => {
    const text = stubbornPolicies['an overlay that adds to a list']?.text ?? '';
    expect(await kymera(['convert', 'p.yaml'], { files: { 'p.yaml': text } })).toMatchObject({
      exitCode: 1,
      stdout: '',
    });
    expect((await kymera(['convert', 'p.yaml'], { files: { 'p.yaml': 'a: b\n' } })).exitCode).toBe(2);
    expect((await kymera(['convert', '-', '--write'], { stdin: commented })).exitCode).toBe(2);
  });

  it('--write changes the files as a whole', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'kymera-convert-'));
    const { exitCode, stdout, stderr } = await kymera(['convert', '.', '--write'], { files, folder: cwd });
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '1 file converted\n' });
    expect(readFileSync(join(cwd, 'p.yaml'), 'utf8')).toBe(commentedConverted);
    expect(readdirSync(cwd)).toEqual(['p.yaml']);
  });

  it('passes over files of a folder that hold no policies', async () => {
    const folder = { 'p.yaml': commented, 'chart/template.yaml': 'a: {{ .Values.a }}\n' };
    expect(await kymera(['convert', '.'], { files: folder })).toMatchObject({ exitCode: 0 });
  });
});
