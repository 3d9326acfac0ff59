import { describe, expect, it, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

/** Clears the screen; also DEL, a C1 control character, a carriage return and a right-to-left override. */
const evil = 'x\u001b[2J\u007f\u009b\r\u202ey';
const quoted = JSON.stringify(evil).replace('\u007f', '\\u007f').replace('\u009b', '\\u009b');
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be printed
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

const policy = (rule: string) =>
  `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [Pod]}}]}\n${rule}`;
const label = `    mutate: {patchStrategicMerge: {metadata: {labels: {a: ${quoted}}}}}\n`;
const failing =
  '    mutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ to_number(request.object.metadata.name) | abs(@) }}"}}}}\n';
const files = {
  'policy.yaml': policy(label),
  'fails.yaml': policy(failing),
  'condition.yaml': policy(
    `    preconditions: {all: [{key: "{{ request.object.metadata.name }}", operator: Equals, value: ${quoted}z}]}\n${label}`,
  ).replace(`${quoted}z`, quoted.replace(/"$/, 'z"')),
  'pod.yaml': `apiVersion: v1\nkind: Pod\nmetadata: {name: ${quoted}, annotations: {${quoted}: ${quoted}}}\n`,
  'a/kustomization.yaml': 'resources: [pod.yaml]\n',
  'a/pod.yaml': `apiVersion: v1\nkind: Pod\nmetadata: {name: ${quoted}}\ndata: 1\n`,
  'b/kustomization.yaml': 'resources: [pod.yaml]\n',
  'b/pod.yaml': `apiVersion: v1\nkind: Pod\nmetadata: {name: ${quoted}}\ndata: 2\n`,
  'bad.yaml': `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: ${quoted}\n    ${quoted}: 1\n`,
  't/kyverno-test.yaml': `apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: ${quoted}}\npolicies: [../policy.yaml]\nresources: [../pod.yaml]\nresults:\n- {policy: p, rule: r, resources: [${quoted}], kind: Pod, result: fail}\n`,
};

describe('control characters in names and values', () => {
  it.each([
    [['apply', 'policy.yaml', '-r', 'pod.yaml'], '\\u001b[2J'],
    [['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'table'], '\\u001b[2J'],
    [['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'blame'], '\\u001b[2J'],
    [['errors', evil], '\\u001b[2J'],
    [['validate', `https://127.0.0.1:1/${evil}`, '--offline'], ''],
    [['apply', 'fails.yaml', '-r', 'pod.yaml'], '\\u001b[2J'],
    [['explain', 'policy.yaml', '-r', 'pod.yaml'], '\\u001b[2J'],
    [['explain', 'condition.yaml', '-r', 'pod.yaml'], '\\u001b[2J'],
    [['diff', 'a', 'b'], '\\u001b[2J'],
    [['diff', 'a', 'b', '--name-only'], '\\u001b[2J'],
    [['build', 'a', '--policies', 'policy.yaml', '-o', '/dev/null'], '\\u001b[2J'],
    [['validate', 'bad.yaml'], ''],
    [['test', 't'], '\\u001b[2J'],
    [['migrate', 'check', 'bad.yaml'], ''],
    [['apply', evil, '-r', 'pod.yaml'], '\\u001b[2J'],
    [[evil], '\\u001b[2J'],
    [['apply', `--${evil}`], '\\u001b[2J'],
    [['jp', 'query', '-i', 'pod.yaml', `'${evil}`], ''],
    [['cel', 'eval', `'${evil}`], ''],
  ])('are escaped for a person: %j', async (argv, shown) => {
    const { stdout, stderr } = await kymera(argv, { files });
    expect(stdout).not.toMatch(control);
    expect(stderr).not.toMatch(control);
    expect(stdout + stderr).toContain(shown);
  });

  it('are data in JSON and YAML', async () => {
    const { stdout } = await kymera(['apply', 'policy.yaml', '-r', 'pod.yaml', '-o', 'json', '-q'], {
      files,
    });
    expect(JSON.parse(stdout).items[0].metadata.labels.a).toBe(evil);
  });
});

describe('the values of Secrets', () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMjI=}\nstringData: {token: swordfish}\n';
  const rules = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Secret]}}]}
    preconditions: {all: [{key: "{{ request.object.stringData.token }}", operator: NotEquals, value: ""}]}
    mutate:
      patchStrategicMerge:
        metadata: {annotations: {token: "{{ request.object.stringData.token }}"}}
        stringData: {token: "{{ request.object.stringData.token }}-2", other: topsecret}
`;
  const given = {
    'policy.yaml': rules,
    'secret.yaml': secret,
    'a/kustomization.yaml': 'resources: [secret.yaml]\n',
    'a/secret.yaml': secret,
    'b/kustomization.yaml': 'resources: [secret.yaml]\n',
    'b/secret.yaml': secret.replace('swordfish', 'tunafish').replace('aHVudGVyMjI=', 'aHVudGVyMjM='),
    't/kyverno-test.yaml':
      'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [../policy.yaml]\nresources: [../secret.yaml]\nresults:\n- {policy: p, rule: r, resources: [s], kind: Secret, patchedResources: expected.yaml, result: pass}\n',
    't/expected.yaml': secret,
  };
  const values = /aHVudGVyMjI|hunter22|aHVudGVyMjM|tunafish|topsecret/;

  test.each([
    [['apply', 'policy.yaml', '-r', 'secret.yaml'], '*** (after)'],
    [['diff', 'a', 'b'], '*** (after)'],
    [['test', 't'], '*** (after)'],
    [['test', 't', '-o', 'junit'], '*** (after)'],
    [['explain', 'policy.yaml', '-r', 'secret.yaml'], '***'],
  ])('%j masks them, and --show-secrets shows them', async (argv, shown) => {
    const masked = await kymera(argv, { files: given });
    expect(masked.stdout).toContain(shown);
    expect(masked.stdout + masked.stderr).not.toMatch(values);
    const open = await kymera([...argv, '--show-secrets'], { files: given });
    expect(open.stdout).toMatch(values);
    expect(open.stdout).not.toContain('***');
  });

  test('explain masks them in variables, conditions and patches', async () => {
    const { stdout } = await kymera(['explain', 'policy.yaml', '-r', 'secret.yaml'], { files: given });
    expect(stdout).not.toContain('swordfish');
  });

  test.each(['yaml', 'json', 'patch'])('are data in -o %s', async (format) => {
    const { stdout } = await kymera(['apply', 'policy.yaml', '-r', 'secret.yaml', '-o', format, '-q'], {
      files: given,
    });
    expect(stdout).toContain('swordfish-2');
  });
});
