import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPolicyFiles } from '../../src/cli/serve/policy-files.ts';
import { defaultPolicyLimits } from '../../src/policy/policy-limits.ts';
import type { Log } from '../../src/server/log.ts';
import { kymera } from './in-process.testing.ts';

/** Mistakes that would go unnoticed without a message. */

const pod = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: app, image: "nginx:1.27"}
`;

const check = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: require-team}
spec:
  rules:
  - name: check-team
    match: {any: [{resources: {kinds: [Pod]}}]}
    validate:
      message: team is required
      pattern: {metadata: {labels: {team: "?*"}}}
`;

describe('rules that are not run', () => {
  const files = {
    'p.yaml': check,
    'pod.yaml': pod,
    'kyverno-test.yaml':
      'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [p.yaml]\nresources: [pod.yaml]\nresults:\n- {policy: require-team, rule: check-team, resources: [web], kind: Pod, result: fail}\n',
  };
  const warning =
    'no rule of this policy is run here: check-team (validate); keep Kyverno or a ValidatingAdmissionPolicy for it';

  it.each([
    ['validate', ['validate', 'p.yaml']],
    ['apply', ['apply', 'p.yaml', '-r', 'pod.yaml']],
    ['explain', ['explain', 'p.yaml', '-r', 'pod.yaml']],
    ['test', ['test', '.']],
  ])('%s warns once', async (_, argv) => {
    const { exitCode, stdout, stderr } = await kymera(argv, { files });
    expect((stdout + stderr).split(warning)).toHaveLength(2);
    expect(exitCode).toBe(0);
  });

  it('serve writes the warning to its log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-silence-'));
    writeFileSync(join(folder, 'p.yaml'), check);
    const warnings: unknown[] = [];
    const log: Log = {
      warn: (fields) => warnings.push(fields),
      error: () => {},
      info: () => {},
      infoText: () => undefined,
      isLevelEnabled: () => true,
    };
    const io = { cwd: folder, stdin: none(), env: {}, stdout: silent, stderr: silent };
    await loadPolicyFiles(['p.yaml'], new Map(), { io, limits: defaultPolicyLimits, log });
    expect(warnings).toEqual([{ problem: expect.stringContaining(warning) }]);
  });
});

const label = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: add-team}
spec:
  rules:
  - name: team
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            +(team): none
`;

/** What `validate` reports about the policy above with another label. */
async function validated(line: string): Promise<string> {
  const files = { 'p.yaml': label.replace('+(team): none', line) };
  return (await kymera(['validate', 'p.yaml'], { files })).stdout;
}

describe('syntax that would be taken literally', () => {
  it.each([
    ['+(team: none', 'Did you mean +(team)?'],
    ['+team): none', 'Did you mean +(team)?'],
    ['(+team): none', 'Did you mean +(team)?'],
    ['<team): none', 'Did you mean <(team)?'],
  ])('%s', async (line, hint) => {
    const key = line.slice(0, line.indexOf(':'));
    const text = await validated(line);
    expect(text).toContain(`p.yaml:12:13: error: ${key} is not an anchor`);
    expect(text).toContain(`hint: ${hint}`);
  });

  it.each([
    ['(team): none\n            a: b'],
    ['<(team): none\n            a: b'],
    ['"{{ to_lower(request.name) }}": b'],
    ['"example.com/team": b'],
  ])('%s is accepted', async (line) => {
    expect(await validated(line)).toBe('1 policy loaded: no problems\n');
  });

  it('braces without an end', async () => {
    const text = await validated('who: "x-{{ request.name }"');
    expect(text).toContain(
      'p.yaml:12:13: warning: "{{ request.name }" has no closing }}: it is not a variable',
    );
    expect(text).toContain('hint: Write {{ name }}, or \\{{ for literal braces.');
    expect(await validated('who: "{{ request.name }}-\\\\{{ x"')).toBe('1 policy loaded: no problems\n');
  });

  it('a name with a wildcard and without an anchor', async () => {
    const patch = 'a: b\n        spec: {containers: [{name: "*", tty: true}]}';
    const text = await validated(patch);
    expect(text).toContain('warning: name: "*" is a literal name: the patch adds an item with this name');
    expect(text).toContain('hint: Write (name): "*" to change the items that match.');
  });

  it.each([['"{{ .Values.team }}"'], ['"{{ include \'x\' . }}"'], ['"{{- if .Values.a }}b{{ end }}"']])(
    'the Helm template %s',
    async (value) => {
      const text = await validated(`who: ${value}`);
      expect(text).toContain('error: ');
      expect(text).toContain('hint: This looks like a Helm template: render it with `helm template` first.');
    },
  );
});

describe('scalars that are not strings in YAML', () => {
  it.each([
    ['yes', 'yes is a boolean in YAML: write "yes"'],
    ['n', 'n is a boolean in YAML: write "n"'],
    ['012', '012 is the number 10 in YAML: write "012"'],
    ['7', '7 is a number in YAML: write "7"'],
    ['1_000', '1_000 is the number 1000 in YAML: write "1_000"'],
  ])('%s', async (written, message) => {
    expect(await validated(`who: ${written}`)).toContain(`p.yaml:12:13: error: ${message} [KYM_LABEL_VALUE]`);
    const named = label.replace('name: team', `name: ${written}`);
    const { stdout } = await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': named } });
    expect(stdout).toContain(`p.yaml:6:5: error: ${message} [KYM_FIELD_TYPE]`);
    expect(stdout).toContain('0 policies loaded: 1 error');
    const resource = pod.replace('{name: web}', `\n  name: web\n  labels: {a: ${written}}`);
    const files = { 'p.yaml': label, 'pod.yaml': `# first\n---\n${resource}` };
    const { exitCode, stderr } = await kymera(['apply', 'p.yaml', '-r', 'pod.yaml'], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(`pod.yaml:7:12: error: ${message} (/metadata/labels/a) [KYM_FIELD_TYPE]\n`);
  });

  it('the name of a resource', async () => {
    const files = { 'p.yaml': label, 'pod.yaml': pod.replace('web', 'on') };
    const { stderr } = await kymera(['apply', 'p.yaml', '-r', 'pod.yaml'], { files });
    expect(stderr).toBe(
      'pod.yaml:3:12: error: on is a boolean in YAML: write "on" (/metadata/name) [KYM_FIELD_TYPE]\n',
    );
  });
});

describe('calls that are not made', () => {
  const policy = label
    .replace(
      '    mutate:',
      '    context: [{name: total, apiCall: {urlPath: /api/v1/namespaces, jmesPath: "length(items)"}}]\n    mutate:',
    )
    .replace('+(team): none', 'count: "{{ total }}"');
  const files = {
    'p.yaml': policy,
    'pod.yaml': pod,
    'patched.yaml': pod.replace('{name: web}', '{name: web, labels: {count: "0"}}'),
    'kyverno-test.yaml':
      'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [p.yaml]\nresources: [pod.yaml]\nresults:\n- {policy: add-team, rule: team, resources: [web], kind: Pod, result: pass, patchedResources: patched.yaml}\n',
  };
  const warning =
    'warning: GET /api/v1/namespaces was not called, and no object of this kind is given: the policy sees an empty list';

  it.each([
    ['apply', ['apply', 'p.yaml', '-r', 'pod.yaml'], '--target-resource'],
    ['explain', ['explain', 'p.yaml', '-r', 'pod.yaml'], '--cluster'],
    ['test', ['test', '.'], 'apiCallResponses'],
  ])('%s says so once, and how to supply the answer', async (_, argv, advice) => {
    const { exitCode, stdout, stderr } = await kymera(argv, { files });
    expect((stdout + stderr).split(warning)).toHaveLength(2);
    expect(stdout + stderr).toContain(advice);
    expect(exitCode).toBe(0);
    const strict = await kymera([...argv, '--strict'], { files });
    expect(strict.exitCode).toBe(1);
    expect(strict.stdout + strict.stderr).toContain(
      'response to GET /api/v1/namespaces is neither in the given resources',
    );
  });

  it('a list of given objects is no reason for a warning', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n';
    const argv = ['apply', 'p.yaml', '-r', 'pod.yaml', '--target-resource', 'ns.yaml', '--strict'];
    const { exitCode, stdout, stderr } = await kymera(argv, { files: { ...files, 'ns.yaml': namespace } });
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('count: "1"');
  });

  it('a value replaces the call', async () => {
    const { stdout, stderr } = await kymera(['apply', 'p.yaml', '-r', 'pod.yaml', '--set', 'total=7'], {
      files,
    });
    expect(stderr).toBe('');
    expect(stdout).toContain('count: "7"');
  });
});

describe('input that has no effect', () => {
  const files = { 'p.yaml': label, 'pod.yaml': pod };
  const apply = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    kymera(['apply', 'p.yaml', '-r', 'pod.yaml', ...argv], { files: { ...files, ...more } });

  it.each([
    ['request.operaton=UPDATE', 'request has no field operaton: did you mean request.operation?'],
    ['request.operation=UPDTE', 'request.operation must be CREATE, UPDATE, DELETE or CONNECT'],
    ['reqest.operation=UPDATE', 'did you mean request.operation?'],
    ['request.namespce=a', 'request has no field namespce: did you mean request.namespace?'],
  ])('--set %s', async (setting, message) => {
    const { exitCode, stderr } = await apply(['--set', setting]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(`error: --set ${setting}: ${message} [KYM_USAGE]\n`);
    const [key, value] = setting.split('=');
    const values = `apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nglobalValues: {${key}: ${value}}\n`;
    const fromFile = await apply(['--values', 'v.yaml'], { 'v.yaml': values });
    expect(fromFile.exitCode).toBe(2);
    expect(fromFile.stderr).toContain(`v.yaml: error: ${message} (/globalValues/${key})`);
  });

  it('fields of the request that policies may define are accepted', async () => {
    expect((await apply(['--set', 'request.mode=dev'])).exitCode).toBe(0);
  });

  it('a value that no policy reads, and values of an unknown policy', async () => {
    expect((await apply(['--set', 'foo.bar=1'])).stderr).toContain(
      'warning: --set foo.bar: no policy reads foo',
    );
    const values =
      'apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\npolicies: [{name: add-taem, resources: []}]\n';
    const { stderr } = await apply(['--values', 'v.yaml'], { 'v.yaml': values });
    expect(stderr).toContain('the values name the policy add-taem, which is not among the policies');
    expect(stderr).toContain('hint: Did you mean add-team?');
  });

  it('an empty resource file', async () => {
    const { exitCode, stderr } = await kymera(['apply', 'p.yaml', '-r', 'empty.yaml'], {
      files: { ...files, 'empty.yaml': '# nothing\n' },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toBe('empty.yaml: warning: the input contains no object [KYM_INPUT_NOT_FOUND]\n');
  });

  it('path and file together', async () => {
    const { exitCode, stderr } = await kymera(['build', '.'], {
      files: {
        'kustomization.yaml': 'resources: [pod.yaml]\npatches:\n- path: a.yaml\n  file: b.yaml\n',
        'pod.yaml': pod,
      },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'kustomization.yaml:4: error: patches[0].file: path and file are the same field: write one of them [KYM_KUSTOMIZATION_INVALID]\n',
    );
  });

  it.each([['My_Policy'], ['Team'], ['-a'], ['a..b']])('the policy name %s', async (name) => {
    const { stdout } = await kymera(['validate', 'p.yaml'], {
      files: { 'p.yaml': label.replace('add-team', name) },
    });
    expect(stdout).toContain(`warning: the API server refuses the name "${name}"`);
  });
});

describe('a namespaced Policy with a target in another namespace', () => {
  const policy = (metadata: string) => `apiVersion: kyverno.io/v1
kind: Policy
metadata: {${metadata}}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      targets: [{apiVersion: v1, kind: Secret, name: s, namespace: other}]
      patchStrategicMerge: {metadata: {labels: {a: b}}}
`;
  const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: example}\n';

  it.each([
    ['validate', ['validate', 'p.yaml'], 1],
    ['existing plan', ['existing', 'plan', 'p.yaml', '-r', 'c.yaml'], 2],
    ['migrate check', ['migrate', 'check', 'p.yaml'], 1],
  ])('%s refuses it, and warns if the namespace is not known', async (_, argv, code) => {
    const files = { 'p.yaml': policy('name: p, namespace: example'), 'c.yaml': config };
    const { exitCode, stdout, stderr } = await kymera(argv, { files });
    expect(exitCode).toBe(code);
    expect(stdout + stderr).toContain('a Policy in example cannot change objects in other');
    const open = await kymera(argv, { files: { ...files, 'p.yaml': policy('name: p') } });
    expect(open.stdout + open.stderr).toContain(
      'a Policy can change only objects of its own namespace: the API server refuses this one unless it is applied in other',
    );
    const own = await kymera(argv, { files: { ...files, 'p.yaml': policy('name: p, namespace: other') } });
    expect(own.stdout + own.stderr).not.toContain('namespace:');
  });
});

const silent = { isTTY: false, write: () => undefined };

async function* none(): AsyncGenerator<string> {}
