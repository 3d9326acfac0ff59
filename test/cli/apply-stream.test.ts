import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPolicies } from '../../src/index.ts';
import { wantedObjects } from '../../src/offline/wanted-objects.ts';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { kymera } from './in-process.testing.ts';

const rule = (text: string) => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
${text.replaceAll(/^(?=.)/gm, '    ')}`;
const label = 'mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}\n';

function wanted(text: string) {
  const { policies, exceptions, problems } = loadPolicies({ file: 'p.yaml', text: rule(text) });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const isWanted = wantedObjects(policies, exceptions, []);
  if (isWanted === undefined) return undefined;
  const objects = ['ConfigMap one', 'ConfigMap two', 'Secret one', 'Namespace shop', 'Pod web'];
  return objects.filter((text) => {
    const [kind = '', name = ''] = text.split(' ');
    return isWanted({ apiVersion: 'v1', kind, metadata: { name } });
  });
}

describe('which objects of the input are kept for policies to read', () => {
  test.each<[string, string, string[] | undefined]>([
    ['none for a policy that reads nothing else', label, undefined],
    [
      'a ConfigMap by name',
      `context: [{name: c, configMap: {name: one, namespace: default}}]\n${label}`,
      ['ConfigMap one'],
    ],
    [
      'a ConfigMap whose name holds a variable',
      `context: [{name: c, configMap: {name: "t{{ request.name }}", namespace: default}}]\n${label}`,
      ['ConfigMap two'],
    ],
    [
      'one object of an API call',
      `context: [{name: c, apiCall: {urlPath: "/api/v1/namespaces/{{ request.namespace }}/secrets/one"}}]\n${label}`,
      ['Secret one'],
    ],
    [
      'a list of an API call',
      `context: [{name: c, apiCall: {urlPath: "/api/v1/configmaps?labelSelector=a%3Db"}}]\n${label}`,
      ['ConfigMap one', 'ConfigMap two'],
    ],
    [
      'everything for an API call that may ask for anything',
      `context: [{name: c, apiCall: {urlPath: "/api/v1/{{ request.name }}"}}]\n${label}`,
      ['ConfigMap one', 'ConfigMap two', 'Secret one', 'Namespace shop', 'Pod web'],
    ],
    [
      'what a loop reads',
      'mutate:\n  foreach:\n  - list: request.object.spec.containers\n    context: [{name: c, configMap: {name: two, namespace: default}}]\n    patchStrategicMerge: {metadata: {labels: {a: b}}}\n',
      ['ConfigMap two'],
    ],
    [
      'the source of a replacement',
      'mutate:\n  replacements:\n  - source: {kind: ConfigMap, name: one, fieldPath: data.a}\n    targets: [{select: {kind: Pod}, fieldPaths: [spec.hostname]}]\n',
      ['ConfigMap one'],
    ],
  ])('%s', (_, text, names) => {
    expect(wanted(text)).toEqual(names);
  });
});

const reading = rule(
  'context: [{name: c, configMap: {name: one, namespace: default}}]\nmutate: {patchStrategicMerge: {metadata: {labels: {a: "{{ c.data.a }}"}}}}\n',
);
const pod = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n';
const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata: {a: b}\n';

test('an object may be read before it comes, from standard input too', async () => {
  const finished = await kymera(['apply', 'policy.yaml', '-r', '-', '-o', 'yaml', '-q'], {
    files: { 'policy.yaml': reading },
    stdin: `${pod}---\n${configMap}`,
  });
  expect(finished).toEqual({
    exitCode: 0,
    stdout: `${pod}  labels:\n    a: b\n---\n${configMap}`,
    stderr: '',
  });
});

test('objects of --target-resource are read and not printed', async () => {
  const { stdout } = await kymera(
    ['apply', 'policy.yaml', '-r', 'pod.yaml', '--target-resource', 'cm.yaml', '-o', 'yaml', '-q'],
    { files: { 'policy.yaml': reading, 'pod.yaml': pod, 'cm.yaml': configMap } },
  );
  expect(stdout).toBe(`${pod}  labels:\n    a: b\n`);
});

const root = new URL('../../', import.meta.url).pathname;

/** Peak memory of the built program in megabytes. */
function peakMemory(folder: string, count: number): number {
  const input = join(folder, `${count}.yaml`);
  const container = (name: string) =>
    `  - name: ${name}\n    image: example/${name}:latest\n    env:\n    - name: A\n      value: "1"\n`;
  const object = (index: number) =>
    `---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p${index}\n  labels:\n    app: a\n  annotations:\n    note: ${'n'.repeat(1_500)}\nspec:\n  containers:\n${['x', 'y', 'z'].map(container).join('')}`;
  const pods = Array.from({ length: count }, (_, index) => object(index));
  writeFileSync(input, [...pods, `---\n${configMap}`].join(''));
  const usage = join(folder, 'usage.json');
  // A heap that could not hold the objects: a program that kept them would not come to an end.
  const argv = [
    '--max-old-space-size=32',
    '--import',
    join(root, 'bench/report-usage.mjs'),
    join(root, 'bin/kymera'),
  ];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...argv, 'apply', join(folder, 'policy.yaml'), '-r', input, '--output', join(folder, 'out.yaml')],
    { encoding: 'utf8', env: { ...process.env, KYMERA_USAGE: usage } },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return (JSON.parse(readFileSync(usage, 'utf8')) as { peakMegabytes: number }).peakMegabytes;
}

describeUnless(unlessBuilt('dist/cli/main.js'))('the built program', () => {
  test.each([
    ['a policy that reads nothing else', rule(label)],
    ['a policy that reads other input', reading],
  ])('ten times the objects need no more memory: %s', { timeout: 600_000 }, (_, policy) => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-stream-'));
    writeFileSync(join(folder, 'policy.yaml'), policy);
    const few = peakMemory(folder, 3_000);
    const many = peakMemory(folder, 30_000);
    // The text of the 27,000 more is over 45 MB: nothing outside the heap holds it either.
    expect(many - few).toBeLessThan(32);
  });
});
