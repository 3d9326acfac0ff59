import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

/** Messages say what is wrong, where, and what to do. */

const pod = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: app, image: "nginx:1.27"}
`;

const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            a: b
`;

const apply = ['apply', 'p.yaml', '-r', 'pod.yaml'];

/** What the command writes to standard error. */
async function errors(argv: readonly string[], files: Readonly<Record<string, string>>): Promise<string> {
  const { exitCode, stderr } = await kymera(argv, { files });
  expect(exitCode).toBe(2);
  return stderr;
}

describe('YAML', () => {
  it.each([
    ['{{ request.name }}', '"{{ request.name }}"'],
    ["{{ request.object.metadata.labels.a || 'x' }}", `"{{ request.object.metadata.labels.a || 'x' }}"`],
    ['{{ request.object.metadata.labels."a/b" }}', `'{{ request.object.metadata.labels."a/b" }}'`],
    ['{{ request.name }}-{{ request.namespace }}', '"{{ request.name }}-{{ request.namespace }}"'],
  ])('an unquoted variable: %s', async (value, quoted) => {
    const text = await errors(apply, { 'p.yaml': policy.replace('a: b', `a: ${value}`), 'pod.yaml': pod });
    expect(text).toMatch(/^p\.yaml:12:\d+: error: /);
    expect(text).toContain(
      `error: quote the value: ${quoted} [KYM_YAML_SYNTAX]\n  12 |             a: ${value}\n`,
    );
    const resource = pod.replace('{name: web}', `\n  name: ${value}`);
    expect(await errors(apply, { 'p.yaml': policy, 'pod.yaml': resource })).toContain(
      `quote the value: ${quoted}`,
    );
  });

  it('a Helm template: one error and its reason', async () => {
    const helm = '{{- if .Values.on }}\nspec:\n  {{- toYaml .Values.spec | nindent 2 }}\n{{- end }}\n';
    const hint = 'hint: This looks like a Helm template: render it with `helm template` first.';
    const template = `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n${helm}`;
    const asPolicy = await errors(apply, { 'p.yaml': `kind: ClusterPolicy\n${helm}`, 'pod.yaml': pod });
    const asResource = await errors(apply, { 'p.yaml': policy, 'pod.yaml': template });
    const asBase = await errors(['build', '.'], {
      'kustomization.yaml': 'resources: [pod.yaml]',
      'pod.yaml': template,
    });
    for (const text of [asPolicy, asResource, asBase]) {
      expect(text.match(/error:/g)).toHaveLength(1);
      expect(text).toContain(hint);
    }
    expect(asPolicy).toContain('p.yaml:2:1: error: ');
    expect(asResource).toContain('pod.yaml:4:');
    expect(asBase).toContain('pod.yaml:4: error: ');
  });

  it('a wrongly indented list: the first error, with its line', async () => {
    const indented = policy.replace('  - name: r', '  - name: q\n   - name: r');
    expect(await errors(apply, { 'p.yaml': indented, 'pod.yaml': pod })).toBe(
      'p.yaml:7:4: error: All sequence items must start at the same column [KYM_YAML_SYNTAX]\n  7 |    - name: r\n',
    );
    const resource = pod.replace('  - {name: app', '  - {name: a}\n   - {name: app');
    expect(await errors(apply, { 'p.yaml': policy, 'pod.yaml': resource })).toBe(
      'pod.yaml:7:4: error: All sequence items must start at the same column [KYM_YAML_SYNTAX]\n  7 |    - {name: app, image: "nginx:1.27"}\n',
    );
    expect(
      await errors(['build', '.'], { 'kustomization.yaml': 'resources:\n- {a: b}\n - {c: d}\n' }),
    ).toMatch(/^kustomization\.yaml:3: error: .* \[KYM_YAML_SYNTAX\]\n {2}3 \| {2}- \{c: d\}\n$/);
  });

  it('tabs', async () => {
    const tabbed = pod.replace('  containers:', '\tcontainers:');
    expect(await errors(apply, { 'p.yaml': policy, 'pod.yaml': tabbed })).toContain(
      'hint: Indent with spaces: YAML does not allow tabs.',
    );
  });
});

describe('expressions', () => {
  it('a misspelled function', async () => {
    const text = policy.replace('a: b', 'a: "{{ to_uper(request.name) }}"');
    expect(await errors(apply, { 'p.yaml': text, 'pod.yaml': pod })).toContain(
      'unknown function to_uper(): did you mean to_upper()?',
    );
  });
});
