import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

const labels = `# Labels for Pods.
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: labels
  annotations: {owner: platform}
spec:
  rules:
  - name: team
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      patchStrategicMerge: {metadata: {labels: {+(team): platform}}}
`;
const stubborn = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: stubborn}
spec:
  background: false
  rules:
  - name: good
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}
  - name: admins
    match: {any: [{resources: {kinds: [Secret]}, clusterRoles: [admin]}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {a: c}}}}
`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {containers: [{name: web, image: nginx}]}
`;
const test = `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [labels.yaml]
resources: [pod.yaml]
results: [{policy: labels, rule: team, resources: [web], kind: Pod, result: pass}]
`;

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'kymera-convert-'));
}

describe('kymera convert to CEL', () => {
  it.each([
    ['mutatingpolicy', 'kind: MutatingPolicy'],
    ['map', 'kind: MutatingAdmissionPolicy'],
  ])('%s: prints the converted policy, proven on given, tested and generated objects', async (to, kind) => {
    const files = { 'labels.yaml': labels, 'pod.yaml': pod, 'kyverno-test.yaml': test };
    const { exitCode, stdout, stderr } = await kymera(
      ['convert', 'labels.yaml', '--to', to, '-o', 'yaml', '-r', 'pod.yaml'],
      { files },
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain(kind);
    expect(stdout).toContain('owner: platform');
    expect(stderr).toMatch(
      /labels\.yaml:\d+: policy labels: converted and proven: the same result on \d+ requests/,
    );
    const [, compared, generated] = /on (\d+) requests \((\d+) of them generated\)/.exec(stderr) ?? [];
    // One object with -r and one of the test, each created and updated.
    expect(Number(compared) - Number(generated)).toBe(4);
  });

  it('writes what kymera validate accepts without warnings, and nothing else to convert', async () => {
    const cwd = folder();
    const files = { 'labels.yaml': labels };
    const written = await kymera(['convert', 'labels.yaml', '--to', 'map', '--write'], {
      files,
      folder: cwd,
    });
    expect(written).toMatchObject({ exitCode: 0, stdout: '' });
    expect(written.stderr).toContain('1 file written');
    const validated = await kymera(['validate', 'labels.yaml'], { folder: cwd });
    expect(validated.exitCode).toBe(0);
    expect(validated.stdout + validated.stderr).not.toMatch(/warning/);
  });

  const exempt = `apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: free, namespace: default}
spec:
  exceptions: [{policyName: labels, ruleNames: ["*"]}]
  match: {any: [{resources: {kinds: [Pod], namespaces: [free]}}]}
`;

  it('converts exceptions of other files with their policies', async () => {
    const cwd = folder();
    const files = { 'labels.yaml': labels, 'exceptions.yaml': exempt };
    const written = await kymera(
      ['convert', 'labels.yaml', 'exceptions.yaml', '--to', 'mutatingpolicy', '--write'],
      { files, folder: cwd },
    );
    expect(written).toMatchObject({ exitCode: 0, stdout: '' });
    expect(written.stderr).toContain('2 files written');
    const converted = readFileSync(join(cwd, 'exceptions.yaml'), 'utf8');
    expect(converted).toContain('policies.kyverno.io/v1');
    expect(converted).not.toContain('apiVersion: kyverno.io');
    const validated = await kymera(['validate', 'labels.yaml', 'exceptions.yaml'], { folder: cwd });
    expect(validated).toMatchObject({ exitCode: 0, stderr: '' });
    const resource = pod.replace('namespace: default', 'namespace: free');
    const applied = await kymera(
      ['apply', 'labels.yaml', '-r', 'pod.yaml', '-e', 'exceptions.yaml', '-o', 'yaml'],
      { files: { 'pod.yaml': resource }, folder: cwd },
    );
    expect(applied.stdout).not.toContain('team');
  });

  it('puts exceptions into a MutatingAdmissionPolicy, and drops them', async () => {
    const files = { 'labels.yaml': `${labels}---\n${exempt}` };
    const { exitCode, stdout } = await kymera(['convert', 'labels.yaml', '--to', 'map', '-o', 'yaml'], {
      files,
    });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('name: exceptions');
    expect(stdout).not.toContain('kind: PolicyException');
  });

  it('keeps an exception for a policy that stays', async () => {
    const both = exempt.replace('["*"]}', '["*"]}, {policyName: elsewhere, ruleNames: [a]}');
    const files = { 'labels.yaml': `${labels}---\n${both}` };
    const args = ['convert', 'labels.yaml', '--to', 'mutatingpolicy', '-o', 'yaml'];
    const { exitCode, stdout } = await kymera(args, { files });
    expect(exitCode).toBe(0);
    expect(stdout.match(/kind: PolicyException/g)).toHaveLength(2);
    expect(stdout).toContain('policyName: elsewhere');
  });

  it('writes no policy whose exception is in a file that stays', async () => {
    const files = { 'labels.yaml': labels, 'other.yaml': `${stubborn}---\n${exempt}` };
    const args = ['convert', 'labels.yaml', 'other.yaml', '--to', 'mutatingpolicy', '-o', 'yaml'];
    const { exitCode, stdout } = await kymera(args, { files });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });

  it('is repeatable, byte for byte', async () => {
    const run = () =>
      kymera(['convert', 'labels.yaml', '--to', 'mutatingpolicy', '-o', 'yaml'], {
        files: { 'labels.yaml': labels },
      });
    expect(await run()).toEqual(await run());
  });

  it('writes nothing for a policy with a clause that cannot be converted, and names the clause', async () => {
    const cwd = folder();
    const { exitCode, stderr } = await kymera(['convert', '.', '--to', 'mutatingpolicy', '--write'], {
      files: { 'stubborn.yaml': stubborn, 'labels.yaml': labels },
      folder: cwd,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /stubborn\.yaml:\d+:\d+: error: .*policy stubborn, rule admins, \/spec\/rules\/1\/.*KYM_NOT_CONVERTED/,
    );
    expect(stderr).toContain('1 converted and proven, 0 with differences, 1 not convertible; 1 file written');
    expect(readFileSync(join(cwd, 'stubborn.yaml'), 'utf8')).toBe(stubborn);
    expect(readFileSync(join(cwd, 'labels.yaml'), 'utf8')).toContain('kind: MutatingPolicy');
  });

  it('with --partial converts the other rules and keeps the rest in the old policy', async () => {
    const { exitCode, stdout, stderr } = await kymera(
      ['convert', 'p.yaml', '--to', 'mutatingpolicy', '--partial', '-o', 'yaml'],
      { files: { 'p.yaml': stubborn } },
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('converted in part');
    const [old = '', ...converted] = stdout.split(/^---\n/m);
    expect(old).toContain('kind: ClusterPolicy');
    expect(old).toContain('- name: admins');
    expect(old).not.toContain('- name: good');
    expect(converted.join('')).toContain('kind: MutatingPolicy');
    expect(converted.join('')).not.toContain('Secret');
  });

  it('converts MutatingPolicies and MutatingAdmissionPolicies to each other', async () => {
    const cwd = folder();
    const files = { 'labels.yaml': labels };
    await kymera(['convert', 'labels.yaml', '--to', 'map', '--write'], { files, folder: cwd });
    const back = await kymera(['convert', 'labels.yaml', '--to', 'mutatingpolicy', '--write'], {
      folder: cwd,
    });
    expect(back.exitCode).toBe(0);
    const text = readFileSync(join(cwd, 'labels.yaml'), 'utf8');
    expect(text).toContain('kind: MutatingPolicy');
    expect(text).not.toContain('Binding');
  });

  it('writes a report as HTML and Markdown, with hostile names escaped', async () => {
    const cwd = folder();
    const hostile = stubborn
      .replace('name: stubborn', 'name: "<img src=x onerror=alert(1)>"')
      .replace('name: admins', 'name: "<img src=y>"');
    const { exitCode } = await kymera(['convert', '.', '--to', 'map', '--report', 'out/../report.html'], {
      files: { 'labels.yaml': labels, 'stubborn.yaml': hostile, 'out/x.txt': '' },
      folder: cwd,
    });
    expect(exitCode).toBe(1);
    const html = readFileSync(join(cwd, 'report.html'), 'utf8');
    const markdown = readFileSync(join(cwd, 'report.md'), 'utf8');
    for (const text of [html, markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll('\\<', '')]) {
      expect(text).toContain('Converted and proven');
      expect(text).toContain('Not convertible');
      expect(text).toContain('labels');
      expect(text).not.toContain('<img');
    }
    expect(html).toContain('prefers-color-scheme:dark');
    expect(html).not.toMatch(/<script|<link|<img|https?:/);
  });

  it.each([
    [['--partial'], '--partial requires --to mutatingpolicy or --to map'],
    [['--report', 'r'], '--report requires'],
    [['-r', 'pod.yaml'], '--resource requires'],
  ])('refuses %j without a CEL form', async (flags, message) => {
    const files = { 'labels.yaml': labels, 'pod.yaml': pod };
    const { exitCode, stderr } = await kymera(['convert', 'labels.yaml', ...flags], { files });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  it('refuses files without policies, broken policies and --write for standard input', async () => {
    const nothing = await kymera(['convert', 'pod.yaml', '--to', 'map'], { files: { 'pod.yaml': pod } });
    expect(nothing).toMatchObject({ exitCode: 2, stdout: '' });
    const broken = labels.replace('patchStrategicMerge', 'patchStrategicMergee');
    expect(
      (await kymera(['convert', 'p.yaml', '--to', 'map'], { files: { 'p.yaml': broken } })).exitCode,
    ).toBe(2);
    const stdin = await kymera(['convert', '-', '--to', 'map', '--write'], { stdin: labels });
    expect(stdin.exitCode).toBe(2);
    expect(existsSync('report.html')).toBe(false);
  });
});
