import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const program = `'${process.execPath}' '${join(root, 'bin/kymera')}'`;
const noProgram = unlessBuilt('dist/cli/main.js');
const noFullDevice = noProgram ?? (existsSync('/dev/full') ? undefined : 'there is no /dev/full');
const noShell = noProgram ?? (process.platform === 'win32' ? 'there is no shell' : undefined);

const policy =
  'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [ConfigMap]}}]}\n    mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}\n';
const suite =
  'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [policy.yaml]\nresources: [all.yaml]\nresults:\n- {policy: p, rule: r, resources: [cm-1], kind: ConfigMap, result: pass}\n';
const objects = 500;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kymera-faults-'));
  const documents = Array.from(
    { length: objects },
    (_, index) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm-${index}\ndata:\n  k: ${'x'.repeat(150)}\n`,
  );
  writeFileSync(join(folder, 'all.yaml'), documents.join('---\n'));
  writeFileSync(join(folder, 'kustomization.yaml'), 'resources: [all.yaml]\n');
  writeFileSync(join(folder, 'policy.yaml'), policy);
  writeFileSync(join(folder, 'kyverno-test.yaml'), suite);
});

function shell(command: string) {
  const result = spawnSync('bash', ['-c', command], { cwd: folder, encoding: 'utf8', timeout: 600_000 });
  return { status: result.status, stdout: result.stdout, stderr: result.stderr };
}

const lost =
  'error: standard output cannot be written: ENOSPC: no space left on device, write [KYM_FILE_NOT_WRITTEN]\n';

describeUnless(noFullDevice)('a full disk', () => {
  test.each([
    'build .',
    'apply policy.yaml -r all.yaml -o yaml -q',
    'apply policy.yaml -r all.yaml -o table -q',
    'explain policy.yaml -r all.yaml',
    'test .',
    'diff . --policies policy.yaml',
    'validate policy.yaml',
    'convert policy.yaml -o yaml 2>/dev/null',
    'jp functions',
    'migrate check policy.yaml',
    'create policy a',
    'rbac policy.yaml',
    'completion bash',
    '--help',
    '--version',
  ])('ends %s with 2 and a message', (argv) => {
    const { status, stderr } = shell(`${program} ${argv} > /dev/full`);
    expect(status).toBe(2);
    if (!argv.includes('2>')) expect(stderr).toBe(lost);
  });

  test('for messages is noticed too', () => {
    expect(shell(`${program} validate nothing.yaml 2> /dev/full`).status).toBe(2);
    expect(shell(`${program} apply policy.yaml -r all.yaml -o yaml 2> /dev/full > /dev/null`).status).toBe(2);
  });

  // Root could replace the device itself if the program did not treat it as one: root gets a device of its own.
  test('for --output is noticed', ({ skip }) => {
    const isRoot = process.getuid?.() === 0;
    if (isRoot && shell('mknod full c 1 7').status !== 0) skip('mknod is not permitted');
    const device = isRoot ? 'full' : '/dev/full';
    const { status, stderr } = shell(`${program} build . -o ${device}`);
    expect(status).toBe(2);
    expect(stderr).toBe(
      `${device}: error: the file cannot be written: ENOSPC: no space left on device, write [KYM_FILE_NOT_WRITTEN]\n`,
    );
    expect(statSync(resolve(folder, device)).isCharacterDevice()).toBe(true);
  });
});

/** A write is cut short at the limit, as on a disk that is almost full. The ignored signal would end the process. */
const almostFull = "trap '' XFSZ; ulimit -f 64;";

describeUnless(noShell)('a disk that is almost full', () => {
  test('does not cut the output short in silence', () => {
    const { status, stderr } = shell(`${almostFull} ${program} build . > cut.yaml`);
    expect(statSync(join(folder, 'cut.yaml')).size).toBe(64 * 1024);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: standard output cannot be written: EFBIG: .*\[KYM_FILE_NOT_WRITTEN\]\n$/);
  });

  test('leaves no part of --output behind', () => {
    const { status, stderr } = shell(`${almostFull} ${program} build . -o part.yaml`);
    expect(status).toBe(2);
    expect(stderr).toContain('part.yaml: error: the file cannot be written: EFBIG');
    expect(readdirSync(folder).filter((name) => name.includes('part.yaml'))).toEqual([]);
  });

  test('keeps the old file of --output', () => {
    writeFileSync(join(folder, 'kept.yaml'), 'old\n');
    expect(shell(`${almostFull} ${program} apply policy.yaml -r all.yaml --output kept.yaml`).status).toBe(2);
    expect(readFileSync(join(folder, 'kept.yaml'), 'utf8')).toBe('old\n');
  });
});

describeUnless(noShell)('a pipe', () => {
  test('that is closed early is not an error', () => {
    const { stdout, stderr } = shell(`{ ${program} build .; echo "status $?" >&2; } | head -n 1`);
    expect({ stdout, stderr }).toEqual({ stdout: 'apiVersion: v1\n', stderr: 'status 0\n' });
  });

  test('with a slow reader gets all bytes', () => {
    const { stdout } = shell(`${program} build . | { sleep 1; grep -c '^kind: ConfigMap'; }`);
    expect(stdout).toBe(`${objects}\n`);
  });
});
