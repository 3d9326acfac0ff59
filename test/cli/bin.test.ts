import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const policy =
  'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [Pod]}}]}\n    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}\n';
const pod = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n';

function kymera(argv: readonly string[], input = '') {
  const cwd = mkdtempSync(join(tmpdir(), 'kymera-bin-'));
  writeFileSync(join(cwd, 'policy.yaml'), policy);
  return spawnSync(process.execPath, [join(root, 'bin/kymera'), ...argv], { cwd, input, encoding: 'utf8' });
}

describeUnless(unlessBuilt('dist/cli/main.js'))('the built program', () => {
  test('reads standard input, writes standard output and ends with 0', () => {
    const { status, stdout, stderr } = kymera(['apply', 'policy.yaml', '-r', '-', '-o', 'yaml', '-q'], pod);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${pod}  labels:\n    a: b\n`,
      stderr: '',
    });
  });

  test('ends with 2 for bad input, without a stack trace', () => {
    const { status, stdout, stderr } = kymera(['apply', 'policy.yaml', '-r', '-'], 'a: [\n');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^\(stdin\):\d+:\d+: error: .* \[KYM_YAML_SYNTAX\]\n$/);
  });
});
