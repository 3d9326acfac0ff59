import { describe, expect, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: label}
spec:
  rules:
  - name: add-team
    match: {any: [{resources: {kinds: [Pod]}}]}
    preconditions:
      all: [{key: "{{ request.object.metadata.name }}", operator: NotEquals, value: skipped}]
    mutate:
      patchStrategicMerge: {metadata: {labels: {team: web}}}
  - name: check
    match: {any: [{resources: {kinds: [Pod]}}]}
    validate: {message: no, pattern: {metadata: {name: "?*"}}}
`;
const pod = (name: string, labels = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${labels}spec:\n  containers:\n  - {name: b, image: b}\n  - {name: a, image: a}\n`;
const testDocument = (results: string, more = '') => `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: labels}
policies: [policy.yaml]
resources: [resources.yaml]
${more}results:
${results}`;
const result = (fields: string) => `- {policy: label, rule: add-team, kind: Pod, ${fields}}\n`;

const labelled = '  labels: {team: web}\n';
const files = {
  'labels/policy.yaml': policy,
  'labels/resources.yaml': `${pod('web')}---\n${pod('skipped')}`,
  'labels/patched.yaml': pod('web', labelled),
  'labels/reordered.yaml': `apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default, labels: {team: web}, annotations: {}}\nspec:\n  containers:\n  - {name: a, image: a}\n  - {name: b, image: b}\n`,
  'labels/other.yaml': pod('other', labelled),
};
const run = (results: string, argv: string[] = [], more: Record<string, string> = {}) =>
  kymera(['test', 'labels', ...argv], {
    files: { ...files, 'labels/kyverno-test.yaml': testDocument(results), ...more },
  });

test('results that hold pass, and the report says so', async () => {
  const { exitCode, stdout } = await run(
    result('resources: [web], patchedResources: patched.yaml, result: pass') +
      result('resources: [default/skipped], result: skip'),
  );
  expect(stdout).toBe(`labels/kyverno-test.yaml (labels)
    labels/policy.yaml:12:5: warning: 1 of 2 rules is not run here: check (validate); keep Kyverno or a ValidatingAdmissionPolicy for it (policy label, /spec/rules/1) [KYM_RULE_NOT_RUN]
  ✓ label  add-team  Pod default/web      pass
  ✓ label  add-team  Pod default/skipped  skip

2 passed, 0 failed
`);
  expect(exitCode).toBe(0);
});

test('an object that differs fails with a diff', async () => {
  const { exitCode, stdout } = await run(
    result('resources: [web], patchedResources: wrong.yaml, result: pass'),
    [],
    {
      'labels/wrong.yaml': pod('web', '  labels: {team: db}\n'),
    },
  );
  expect(exitCode).toBe(1);
  expect(stdout).toContain('✗ label  add-team  Pod default/web  pass  the object differs from wrong.yaml');
  expect(stdout).toContain('    -    team: db\n    +    team: web\n');
  expect(stdout).toContain('0 passed, 1 failed');
});

test('a status that differs fails with the reason', async () => {
  const { exitCode, stdout } = await run(result('resources: [skipped], result: pass'));
  expect(exitCode).toBe(1);
  expect(stdout).toContain('expected pass, got skip: preconditions not met');
});

test('the order of list items with a merge key is a note, a failure with --strict-order', async () => {
  const results = result('resources: [web], patchedResources: reordered.yaml, result: pass');
  const lenient = await run(results);
  expect(lenient.exitCode).toBe(0);
  expect(lenient.stdout).toContain('only the order of list items differs');
  expect((await run(results, ['--strict-order'])).exitCode).toBe(1);
});

describe('a result that nothing verifies is a failure, or a warning with --lenient', () => {
  test.each([
    [
      'no such policy',
      '- {policy: nope, rule: add-team, resources: [web], kind: Pod, result: pass}\n',
      'there is no policy nope',
    ],
    [
      'no such rule',
      '- {policy: label, rule: nope, resources: [web], kind: Pod, result: pass}\n',
      'the policy has no rule nope; it has add-team, check',
    ],
    [
      'no such object',
      result('resources: [nope], result: pass'),
      'there is no such object among the resources',
    ],
    [
      'no expected file',
      result('resources: [web], patchedResources: nope.yaml, result: pass'),
      'there is no file nope.yaml',
    ],
    [
      'no expected object',
      result('resources: [web], patchedResources: other.yaml, result: pass'),
      'Pod default/web is not in other.yaml',
    ],
    [
      'a rule that does not match',
      result('resources: [web], result: pass, operation: DELETE'),
      'the rule does not apply to this object',
    ],
  ])('%s', async (_, results, reason) => {
    const strict = await run(results);
    expect(strict.stdout).toContain(reason);
    expect(strict.stdout).toContain('0 passed, 1 failed');
    expect(strict.exitCode).toBe(1);
    const lenient = await run(results, ['--lenient']);
    expect(lenient.stdout).toContain('0 passed, 0 failed, 1 not verified');
    expect(lenient.exitCode).toBe(0);
  });
});

test('rules of other types are skipped, and counted', async () => {
  const { exitCode, stdout } = await run(
    '- {policy: label, rule: check, resources: [web], kind: Pod, result: pass}\n',
  );
  expect(stdout).toContain('validate rules are not supported');
  expect(stdout).toContain('0 passed, 0 failed, 1 skipped');
  expect(exitCode).toBe(0);
});

test('no test found is a failure', async () => {
  const { exitCode, stdout } = await kymera(['test', 'labels'], { files });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('no test found');
});

test('older spellings are accepted with a warning', async () => {
  const old = `name: old\npolicies: [policy.yaml]\nresources: [resources.yaml]\nresults:\n- {policy: label, rule: add-team, resource: web, namespace: default, kind: Pod, patchedResource: patched.yaml, status: pass}\n`;
  const { exitCode, stdout } = await kymera(['test', 'labels'], {
    files: { ...files, 'labels/kyverno-test.yaml': old },
  });
  expect(stdout).toContain('1 passed, 0 failed');
  expect(exitCode).toBe(0);
  for (const key of ['name', 'resource', 'patchedResource', 'namespace', 'status'])
    expect(stdout).toMatch(new RegExp(`${key} is deprecated`));
});

test('a test document that is broken ends with 2, and the others are still run', async () => {
  const { exitCode, stdout } = await run(result('resources: [web], result: pass'), ['broken'], {
    'broken/kyverno-test.yaml': testDocument('- {policy: label, rule: r, result: maybe}\n'),
  });
  expect(exitCode).toBe(2);
  expect(stdout).toContain(
    'broken/kyverno-test.yaml:7:3: error: result must be pass, fail, skip, warn or error',
  );
  expect(stdout).toContain('1 passed, 0 failed; some tests are invalid');
});

test('values in the document, and the state after the policy of the result', async () => {
  const second = policy.replace('{name: label}', '{name: second}').replace('team: web', 'team: second');
  const results = result('resources: [web], patchedResources: patched.yaml, result: pass');
  const more = 'values: {globalValues: {request.operation: UPDATE}}\n';
  const { exitCode, stdout } = await kymera(['test', 'labels'], {
    files: {
      ...files,
      'labels/second.yaml': second,
      'labels/kymera-test.yaml': testDocument(results, more).replace(
        '[policy.yaml]',
        '[policy.yaml, second.yaml]',
      ),
    },
  });
  expect(stdout).toContain('1 passed, 0 failed');
  expect(exitCode).toBe(0);
});

test("tests in a .kyverno-test folder are found, as in Kyverno's policy library", async () => {
  const { exitCode, stdout } = await kymera(['test', '.'], {
    files: {
      'other/label/label.yaml': policy,
      'other/label/.kyverno-test/resources.yaml': pod('web'),
      'other/label/.kyverno-test/patched.yaml': pod('web', labelled),
      'other/label/.kyverno-test/kyverno-test.yaml': testDocument(
        result('resources: [web], patchedResources: patched.yaml, result: pass'),
      ).replace('policy.yaml', '../label.yaml'),
    },
  });
  expect(stdout).toContain('1 passed, 0 failed');
  expect(exitCode).toBe(0);
});
