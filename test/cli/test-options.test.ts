import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { kymera } from './in-process.testing.ts';

const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: defaults}
spec:
  rules:
  - name: label
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {+(team): web}}}}
  - name: pull
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate:
      foreach:
      - list: request.object.spec.containers
        preconditions: {all: [{key: "{{ element.name }}", operator: Equals, value: app}]}
        patchStrategicMerge:
          spec:
            containers:
            - (name): "{{ element.name }}"
              (image): "*:latest"
              imagePullPolicy: Always
`;
const pod = (image: string, more = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n${more}spec:\n  containers:\n  - name: app\n    image: ${image}\n`;
const suite = `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [policy.yaml]
resources: [pod.yaml]
results:
- {policy: defaults, rule: label, kind: Pod, resources: [web], patchedResources: patched.yaml, result: pass}
- {policy: defaults, rule: pull, kind: Pod, resources: [web], result: skip}
- {policy: defaults, rule: nope, kind: Pod, resources: [web], result: pass}
`;
const good = pod('app:1', '  labels:\n    team: web\n');
const files = (patched = good) => ({
  't/policy.yaml': policy,
  't/pod.yaml': pod('app:1'),
  't/patched.yaml': patched,
  't/kyverno-test.yaml': suite,
});
const wrong = `# what we want\n${pod('app:1', '  labels:\n    team: "old" # ours\n')}`;

describe('--filter', () => {
  test.each([
    [['rule=label'], 1],
    [['rule=*l*'], 2],
    [['policy=defaults,rule=pull,resource=web'], 1],
    [['pul'], 1],
    [['Pod default/web', 'label'], 1],
  ])('%j leaves %i results', async (filter, count) => {
    const { stdout } = await kymera(['test', 't', '--filter', ...filter], { files: files() });
    expect(stdout).toContain(`${count} passed, 0 failed`);
  });

  test("Kyverno's name for it, a filter that nothing fits, and one that is wrong", async () => {
    const kyverno = ['test', 't', '--test-case-selector', 'policy=*,rule=label,resource=*'];
    expect((await kymera(kyverno, { files: files() })).stdout).toContain('1 passed, 0 failed');
    expect(await kymera(['test', 't', '-t', 'rule=x'], { files: files() })).toMatchObject({
      exitCode: 1,
      stderr: 'no test matches the filter\n',
    });
    expect((await kymera(['test', 't', '-t', 'x=y'], { files: files() })).exitCode).toBe(2);
  });
});

test('--fail-only prints what failed and nothing else', async () => {
  const { stdout } = await kymera(['test', 't', '--fail-only'], { files: files() });
  expect(stdout).toBe(`t/kyverno-test.yaml (t)
  ✗ defaults  nope  web  pass  the policy has no rule nope; it has label, pull

2 passed, 1 failed
`);
});

describe('reports', () => {
  const run = async (format: string) =>
    (await kymera(['test', 't', '-o', format, '--lenient'], { files: files(wrong) })).stdout;

  test('json and yaml', async () => {
    const report = JSON.parse(await run('json')) as object;
    expect(report).toMatchObject({
      summary: { passed: 1, failed: 1, skipped: 0, unverified: 1 },
      suites: [{ file: 't/kyverno-test.yaml', errors: [], tests: [{ name: 't' }] }],
    });
    expect(report).toHaveProperty('suites.0.tests.0.results.0', {
      policy: 'defaults',
      rule: 'label',
      resource: 'Pod default/web',
      expected: 'pass',
      outcome: 'failed',
      reason: 'the object differs from patched.yaml',
      difference: expect.stringContaining('-    team: old\n+    team: web\n'),
    });
    expect(await run('yaml')).toContain('summary:\n  passed: 1\n  failed: 1\n');
  });

  test('junit', async () => {
    const text = await run('junit');
    expect(text).toContain('<testsuites tests="3" failures="1" errors="0">');
    expect(text).toContain(
      'name="defaults / label / Pod default/web / pass">\n      <failure message="the object',
    );
    expect(text).toContain('<skipped message="the policy has no rule nope');
    expect(text).toContain('-    team: old\n+    team: web\n');
  });

  test('tap', async () => {
    const text = await run('tap');
    expect(text).toMatch(
      /^TAP version 14\n1\.\.3\nnot ok 1 - defaults label Pod default\/web pass\n {2}---\n/,
    );
    expect(text).toContain('\nok 2 - defaults pull Pod default/web skip\n');
    expect(text).toMatch(/\nok 3 - .* # SKIP the policy has no rule nope/);
  });

  test('markdown', async () => {
    expect(await run('markdown')).toContain(
      '| failed | defaults | label | Pod default/web | pass | the object',
    );
  });

  test('--report writes files beside the text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-report-'));
    const argv = ['test', 't', '--report', 'junit=j.xml', 'json=r.json', '--report', 'tap=r.tap'];
    const { stdout } = await kymera(argv, { files: files(), folder });
    expect(stdout).toContain('2 passed, 1 failed');
    expect(readFileSync(join(folder, 'j.xml'), 'utf8')).toContain('<testsuites');
    expect(JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))).toHaveProperty('summary.passed', 2);
    expect(readFileSync(join(folder, 'r.tap'), 'utf8')).toContain('TAP version');
    expect((await kymera(['test', 't', '--report', 'pdf=x'], { files: files() })).exitCode).toBe(2);
  });

  test('a file that cannot be read is an error in each', async () => {
    const broken = { ...files(), 't/policy.yaml': 'a: [\n' };
    for (const [format, text] of [
      ['junit', '<error message="t/policy.yaml:'],
      ['tap', 'not ok 1 - t/policy.yaml:'],
      ['json', '"t/policy.yaml:'],
    ] as const) {
      const { stdout, exitCode } = await kymera(['test', 't', '-o', format], { files: broken });
      expect(stdout).toContain(text);
      expect(exitCode).toBe(2);
    }
  });
});

describe('--update', () => {
  const run = (folder: string, patched: string | undefined, argv: string[] = [], env = {}) => {
    const { 't/patched.yaml': file, ...rest } = files(patched);
    const given = patched === undefined ? rest : { ...rest, 't/patched.yaml': file };
    return kymera(['test', 't', '--update', ...argv], { files: given, folder, env });
  };
  const fresh = () => mkdtempSync(join(tmpdir(), 'kymera-update-'));

  test('writes the object that differs; comments and the other documents stay', async () => {
    const folder = fresh();
    const other = 'apiVersion: v1\nkind: Pod\nmetadata: {name: other} # as it was\n';
    const { stderr } = await run(folder, `${wrong}---\n${other}`);
    expect(stderr).toBe('wrote t/patched.yaml: 1 object\n');
    expect(readFileSync(join(folder, 't/patched.yaml'), 'utf8')).toBe(
      `# what we want\n${pod('app:1', '  labels:\n    team: web\n')}---\n${other}`,
    );
    expect((await kymera(['test', 't'], { folder })).stdout).toContain('2 passed, 1 failed');
  });

  test('writes a file that is not there, and leaves one that fits', async () => {
    const folder = fresh();
    await run(folder, undefined);
    expect(readFileSync(join(folder, 't/patched.yaml'), 'utf8')).toBe(good);
    expect((await run(folder, good)).stderr).toBe('all expected files are up to date\n');
  });

  test('not in a CI run, unless forced', async () => {
    const folder = fresh();
    expect(await run(folder, wrong, [], { CI: 'true' })).toMatchObject({ exitCode: 2, stdout: '' });
    expect(readFileSync(join(folder, 't/patched.yaml'), 'utf8')).toBe(wrong);
    expect((await run(folder, wrong, ['--force'], { CI: 'true' })).stderr).toContain('wrote');
  });
});

describe('--coverage', () => {
  test('reports rules, loops and anchors that no test covers', async () => {
    const other = { ...files(), 't/pod.yaml': pod('app:1').replace('name: app', 'name: other') };
    const { stdout } = await kymera(['test', 't', '--coverage', '--filter', 'rule=pull'], { files: other });
    expect(stdout).toContain(`
coverage: 0 of 2 rules applied, 0 of 1 foreach bodies run, 0 of 3 anchors held
  policy defaults, rule label (t/policy.yaml)
    ! no test covers a change by this rule
    ! anchor +(team) at metadata.labels.team is never reached
  policy defaults, rule pull (t/policy.yaml)
    ! no test covers a change by this rule
    ! no test runs the body of mutate.foreach[0]
    ! anchor (name) at spec.containers[].name is never reached
    ! anchor (image) at spec.containers[].image is never reached
`);
  });

  test('is full when everything was exercised, and part of the JSON report', async () => {
    const full = {
      ...files(),
      't/pod.yaml': pod('app:latest'),
      't/kyverno-test.yaml': suite
        .replace(', patchedResources: patched.yaml', '')
        .replace('result: skip', 'result: pass'),
    };
    const { stdout } = await kymera(['test', 't', '--coverage'], { files: full });
    expect(stdout).toContain(
      'coverage: 2 of 2 rules applied, 1 of 1 foreach bodies run, 3 of 3 anchors held\n',
    );
    const json = await kymera(['test', 't', '--coverage', '-o', 'json'], { files: full });
    expect(JSON.parse(json.stdout)).toHaveProperty('coverage.1.anchors.1', {
      anchor: '(image)',
      place: 'spec.containers[].image',
      held: true,
      missed: false,
    });
  });

  test('a rule made for pod controllers counts as the one it was made from', async () => {
    const deployment = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n${pod(
      'app:latest',
    )
      .replace(/^apiVersion.*\nkind.*\n/, '')
      .replaceAll(/^/gm, '    ')}`;
    const { stdout } = await kymera(['test', 't', '--coverage'], {
      files: {
        ...files(),
        't/pod.yaml': deployment,
        't/kyverno-test.yaml': suite
          .replace(', patchedResources: patched.yaml', '')
          .replace('result: skip', 'result: pass')
          .replaceAll('kind: Pod', 'kind: Deployment'),
      },
    });
    expect(stdout).toContain(
      'coverage: 2 of 2 rules applied, 1 of 1 foreach bodies run, 3 of 3 anchors held\n',
    );
  });
});

test('--watch runs again when a file that a test names changes', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kymera-test-watch-'));
  const { 't/policy.yaml': outside, ...rest } = files();
  const near = { ...rest, 't/kyverno-test.yaml': suite.replace('[policy.yaml]', '[../policy.yaml]') };
  mkdirSync(join(cwd, 't'));
  for (const [name, text] of Object.entries({ ...near, 'policy.yaml': outside }))
    writeFileSync(join(cwd, name), text);
  const abort = new AbortController();
  let printed = '';
  const output = {
    isTTY: false,
    write: (text: string | Uint8Array) => {
      printed += String(text);
    },
  };
  const io = {
    stdin: (async function* () {})(),
    stdout: output,
    stderr: output,
    cwd,
    env: {},
    signal: abort.signal,
  };
  const ended = run(['test', 't', '--watch'], io);
  await expect.poll(() => printed).toContain('2 passed, 1 failed');
  writeFileSync(join(cwd, 'policy.yaml'), policy.replace('team): web', 'team): other'));
  await expect.poll(() => printed).toContain('1 passed, 2 failed');
  abort.abort();
  expect(await ended).toBe(1);
});

test('--quiet prints nothing when all is well', async () => {
  const finished = await kymera(['test', 't', '-q', '--filter', 'rule=label'], { files: files() });
  expect(finished).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});

const root = new URL('../../', import.meta.url).pathname;

describeUnless(unlessBuilt('dist/cli/test-worker.js'))('the built program', () => {
  test('prints the same with one thread and with several', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-jobs-'));
    for (let index = 0; index < 12; index++) {
      mkdirSync(join(folder, `t${index}`));
      for (const [name, text] of Object.entries(files())) {
        writeFileSync(join(folder, name.replace('t/', `t${index}/`)), text);
      }
    }
    const outputs = ['1', '4'].map(
      (jobs) =>
        spawnSync(process.execPath, [join(root, 'bin/kymera'), 'test', '.', '--jobs', jobs, '--coverage'], {
          cwd: folder,
          encoding: 'utf8',
        }).stdout,
    );
    expect(outputs[0]).toContain('24 passed, 12 failed');
    expect(outputs[1]).toBe(outputs[0]);
  });
});
