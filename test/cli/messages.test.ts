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

describe('policies and resources', () => {
  it.each([
    [
      'kind: ClusterPolcy',
      'p.yaml:2:1: error: kyverno.io/v1 has no kind ClusterPolcy',
      'Did you mean ClusterPolicy?',
    ],
    [
      'kind: clusterpolicy',
      'p.yaml:2:1: error: kyverno.io/v1 has no kind clusterpolicy',
      'Did you mean ClusterPolicy?',
    ],
    [
      'kind: PolicyExeption',
      'p.yaml:2:1: error: kyverno.io/v1 has no kind PolicyExeption',
      'Did you mean PolicyException?',
    ],
  ])('the unknown %s', async (kind, message, hint) => {
    const files = {
      'p.yaml': policy.replace('kind: ClusterPolicy', kind),
      'q.yaml': policy,
      'pod.yaml': pod,
    };
    for (const argv of [apply, ['apply', '.', '-r', 'pod.yaml'], ['explain', 'p.yaml', '-r', 'pod.yaml']]) {
      const text = await errors(argv, files);
      expect(text).toContain(message);
      expect(text).toContain(
        `hint: ${hint} Known: ClusterPolicy, Policy, PolicyException, GlobalContextEntry.`,
      );
    }
  });

  it.each([
    ['kyverno.io/v3', 'kyverno.io/v3 has no ClusterPolicy', 'Did you mean kyverno.io/v1?'],
    ['kiverno.io/v1', 'kiverno.io/v1 has no ClusterPolicy', 'Did you mean kyverno.io/v1?'],
  ])('the unknown version %s', async (version, message, hint) => {
    const files = { 'p.yaml': policy.replace('kyverno.io/v1', version), 'pod.yaml': pod };
    const text = await errors(apply, files);
    expect(text).toContain(`p.yaml:1:1: error: ${message}`);
    expect(text).toContain(`hint: ${hint} Known: kyverno.io/v1, kyverno.io/v2,`);
  });

  it.each([
    ['authentication.istio.io/v1alpha1', 'Policy'],
    ['kuma.io/v1', 'Policy'],
    ['nvidia.com/v1', 'ClusterPolicy'],
  ])('%s %s of another group is no mistake', async (version, kind) => {
    const other = `apiVersion: ${version}\nkind: ${kind}\nmetadata: {name: other}\n`;
    const { exitCode, stderr } = await kymera(['apply', '.', '-r', 'pod.yaml'], {
      files: { 'p.yaml': policy, 'other.yaml': other, 'pod.yaml': pod },
    });
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  it('swapped arguments', async () => {
    expect(await errors(['apply', 'pod.yaml', '-r', 'p.yaml'], { 'p.yaml': policy, 'pod.yaml': pod })).toBe(
      'pod.yaml: error: pod.yaml contains a Pod and no policy [KYM_INPUT_NOT_FOUND]\n  hint: did you mean -r pod.yaml?\n',
    );
  });

  it('a resource among the policies, without -r', async () => {
    expect(await errors(['apply', 'p.yaml', 'pod.yaml'], { 'p.yaml': policy, 'pod.yaml': pod })).toBe(
      'error: no resource is named [KYM_USAGE]\n  hint: pod.yaml contains a Pod: did you mean -r pod.yaml?\n',
    );
    expect(await errors(['apply', 'p.yaml'], { 'p.yaml': policy })).toBe(
      'error: no resource is named [KYM_USAGE]\n  hint: name them with -r; - for standard input\n',
    );
  });

  it('a command without -r does not propose it', async () => {
    expect(await errors(['gitops', 'hints', 'pod.yaml'], { 'pod.yaml': pod })).toContain(
      'hint: a policy is a ClusterPolicy or Policy of kyverno.io',
    );
  });

  it('an empty file and a kind that is not run', async () => {
    expect(await errors(apply, { 'p.yaml': '# nothing\n---\n', 'pod.yaml': pod })).toContain(
      'error: p.yaml is empty',
    );
    const other = 'apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: v}\n';
    expect(await errors(apply, { 'p.yaml': other, 'pod.yaml': pod })).toContain(
      'there is no policy in p.yaml: a ValidatingPolicy is not run here: keep Kyverno or a ValidatingAdmissionPolicy for it',
    );
  });

  it('an image with a digest only, where the tag is read', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const files = {
      'p.yaml': policy.replace('a: b', 'a: "{{ images.containers.app.tag }}"'),
      'pod.yaml': pod.replace('nginx:1.27', `nginx@${digest}`),
    };
    const { exitCode, stderr } = await kymera(apply, { files });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `Unknown key "tag" in path: container app (docker.io/nginx@${digest}) has no tag`,
    );
  });
});

describe('builds', () => {
  const base = {
    'pod.yaml': pod,
    'cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: source}\ndata: {v: x}\n',
  };
  const build = (kustomization: string, argv: readonly string[] = []) =>
    kymera(['build', 'app', ...argv], {
      files: Object.fromEntries(
        Object.entries({ ...base, 'kustomization.yaml': kustomization }).map(([name, text]) => [
          `app/${name}`,
          text,
        ]),
      ),
    });
  const replacement = (target: string) => `resources: [pod.yaml, cm.yaml]
replacements:
- source: {kind: ConfigMap, name: source, fieldPath: data.v}
  targets:
${target}`;

  it('a misspelled field', async () => {
    expect((await build('namespace: a\nresource: [pod.yaml]\n')).stderr).toBe(
      'app/kustomization.yaml:2: error: resource: unknown field "resource" [KYM_KUSTOMIZATION_INVALID]\n  hint: Did you mean resources?\n',
    );
  });

  it('plugins that are not enabled', async () => {
    const config = 'transformers:\n- |-\n  apiVersion: example.com/v1\n  kind: Own\n  metadata: {name: a}\n';
    const { stderr } = await build(`resources: [pod.yaml]\n${config}`);
    expect(stderr).toContain("Own of 'example.com' is a plugin, and plugins are disabled");
    expect(stderr).toContain('hint: Plugins run programs. If you trust them, use --enable-plugins.');
  });

  it('a field path that does not exist: file and line of the target', async () => {
    const target = '  - select: {kind: Pod}\n    fieldPaths: [metadata.labels.none]\n';
    expect((await build(replacement(target))).stderr).toMatch(
      /^app\/kustomization\.yaml:5: error: replacements\[0\]\.targets\[0\]: .*field path 'metadata\.labels\.none'/,
    );
  });

  it('an invalid regular expression: file and line of the field', async () => {
    const select = '  - select:\n      kind: Pod\n      name: "app[1"\n    fieldPaths: [metadata.name]\n';
    expect((await build(replacement(select))).stderr).toMatch(
      /^app\/kustomization\.yaml:7: error: replacements\[0\]\.targets\[0\]\.select\.name: error parsing regexp/,
    );
    const path = '  - select: {kind: Pod}\n    fieldPaths:\n    - "spec.containers.[name=*x].image"\n';
    const { stderr } = await build(replacement(path));
    expect(stderr).toMatch(/^app\/kustomization\.yaml:7: error: .*fieldPaths\[0\]: .*error parsing regexp/);
    expect(stderr).toContain('hint: Values are regular expressions: write .*x.');
    const patch = 'resources: [pod.yaml]\npatches:\n- target:\n    kind: "*x"\n  patch: "[]"\n';
    expect((await build(patch)).stderr).toMatch(
      /^app\/kustomization\.yaml:4: error: patches\[0\]\.target\.kind: .*\n {2}hint: Names are regular expressions: write \.\*x\.\n$/,
    );
  });

  it('a replacement in a file: that file', async () => {
    const files = {
      ...base,
      'kustomization.yaml': 'resources: [pod.yaml, cm.yaml]\nreplacements: [{path: r.yaml}]\n',
      'r.yaml':
        '- source: {kind: ConfigMap, name: source, fieldPath: data.v}\n  targets:\n  - select: {name: "app[1"}\n',
    };
    const { stderr } = await kymera(['build', '.'], { files });
    expect(stderr).toMatch(/^r\.yaml:3: error: \[0\]\.targets\[0\]\.select\.name: error parsing regexp/);
  });

  it('a wildcard in select matches nothing, with a note', async () => {
    const target = '  - select: {kind: Pod, name: "*eb"}\n    fieldPaths: [metadata.name]\n';
    const { exitCode, stdout, stderr } = await build(replacement(target));
    expect(exitCode).toBe(0);
    expect(stdout).toContain('name: web');
    expect(stderr).toBe(
      "warning: app/kustomization.yaml: replacements[0].targets[0].select.name: '*eb' is a wildcard and selects nothing: names are regular expressions; write '.*eb'\n",
    );
  });

  it('the messages of a plugin that succeeds', async () => {
    const program = { exec: { path: '/bin/sh', args: ['-c', 'echo "one pod" >&2; cat'] } };
    const config = {
      apiVersion: 'example.com/v1',
      kind: 'Own',
      metadata: { name: 'a', annotations: { 'config.kubernetes.io/function': JSON.stringify(program) } },
    };
    const kustomization = JSON.stringify({ resources: ['pod.yaml'], transformers: [JSON.stringify(config)] });
    const { exitCode, stderr } = await build(kustomization, ['--enable-plugins']);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^the function .*: one pod\n$/);
  });
});

describe('what to do', () => {
  const validate = async (text: string) =>
    (await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': text } })).stdout;

  it.each([
    ['a string for a list', policy.replace('kinds: [Pod]', 'kinds: Pod'), 'hint: Write a list: [Pod].'],
    [
      'text for a patch',
      policy.replace('patchStrategicMerge:', 'patchStrategicMerge: |'),
      'hint: The patch is YAML and not text: remove the | after the key.',
    ],
    [
      'a list for the text of a patch',
      policy.replace(/patchStrategicMerge:.*/s, 'patchesJson6902: [{op: add, path: /a, value: b}]\n'),
      'hint: Write it as text: put |- after the key.',
    ],
    [
      'an operator',
      policy.replace(
        '    mutate:',
        '    preconditions: {all: [{key: "{{ request.name }}", operator: Equls, value: a}]}\n    mutate:',
      ),
      'hint: Write Equals.',
    ],
    [
      'a field of the request',
      policy.replace('a: b', 'a: "{{ request.objct.kind }}"'),
      'hint: Did you mean request.object?',
    ],
  ])('%s', async (_, text, hint) => {
    const stdout = await validate(text);
    expect(stdout).toContain(hint);
    expect(stdout.match(/^p\.yaml:/gm)).toHaveLength(1);
  });

  it('a format', async () => {
    const text = await errors([...apply, '-o', 'yml'], { 'p.yaml': policy, 'pod.yaml': pod });
    expect(text).toContain('hint: did you mean -o yaml?');
  });

  it('a field of a test, and of the user', async () => {
    const test =
      'kind: Test\npolicy: [p.yaml]\nresources: [pod.yaml]\nresults: [{policy: p, resources: [web], kind: Pod, result: pass}]\n';
    const { exitCode, stdout } = await kymera(['test', '.'], {
      files: { 'p.yaml': policy, 'pod.yaml': pod, 'kyverno-test.yaml': test },
    });
    expect(exitCode).toBe(2);
    expect(stdout).toContain(
      'kyverno-test.yaml:2:1: error: a test has no field policy: did you mean policies?',
    );
    const user = 'apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: {user: me}\n';
    const files = { 'p.yaml': policy, 'pod.yaml': pod, 'u.yaml': user };
    expect(await errors([...apply, '-u', 'u.yaml'], files)).toContain(
      'u.yaml: error: userInfo has no field user: it has username, groups, uid, extra',
    );
  });

  it('an exception for a policy that is not there', async () => {
    const exception = `apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: e, namespace: default}
spec:
  exceptions: [{policyName: q-policy, ruleNames: [r]}]
  match: {any: [{resources: {kinds: [Pod]}}]}
`;
    const files = { 'p.yaml': policy, 'pod.yaml': pod, 'e.yaml': exception };
    const { stderr } = await kymera([...apply, '-e', 'e.yaml'], { files });
    expect(stderr).toContain(
      'e.yaml:1: warning: the exception default/e names the policy q-policy, which is not among the policies',
    );
  });

  it('a patch of a kustomization that matches nothing', async () => {
    const kustomization = 'resources: [pod.yaml]\npatches:\n- target: {kind: Pods}\n  patch: "[]"\n';
    const { exitCode, stderr } = await kymera(['build', '.'], {
      files: { 'kustomization.yaml': kustomization, 'pod.yaml': pod },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'warning: kustomization.yaml: patches[0].target: no resource matches {kind: Pods}, so the patch has no effect\n',
    );
  });

  it('a function of CEL under another name', async () => {
    expect((await kymera(['cel', 'eval', "'a'.toUpper()"])).stderr).toContain(
      "hint: Did you mean 'upperAscii'?",
    );
  });
});
