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

const silent = { isTTY: false, write: () => undefined };

async function* none(): AsyncGenerator<string> {}
