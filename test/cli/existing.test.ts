import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { kymera } from './in-process.testing.ts';

const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: secret-1, namespace: staging}\n';
const policy = (mutate: string, match = 'kinds: [ConfigMap]', rule = '') => `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {${match}}}]}
    ${rule}
    mutate: ${mutate}
`;
const labelSecrets = policy(
  '{targets: [{apiVersion: v1, kind: Secret}], patchStrategicMerge: {metadata: {labels: {a: b}}}}',
);
const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, namespace: staging}\ndata: {k: v}\n';
const files = { 'p.yaml': labelSecrets, 'objects/secret.yaml': `# kept\n${secret}`, 'objects/map.yaml': map };

describe('plan', () => {
  it('shows the difference, which rule makes it, and changes no file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-existing-'));
    expect(await kymera(['existing', 'plan', 'p.yaml', '-r', 'objects'], { files, folder })).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: `--- Secret staging/secret-1
+++ Secret staging/secret-1 (p/r)
@@ -3,3 +3,5 @@
 metadata:
   name: secret-1
   namespace: staging
+  labels:
+    a: b
1 trigger; objects: 1 changed, 0 created, 0 deleted; 0 failed
`,
    });
    expect(readFileSync(join(folder, 'objects/secret.yaml'), 'utf8')).toBe(`# kept\n${secret}`);
  });

  it('prints what changes as YAML, JSON or a table', async () => {
    const plan = (format: string) =>
      kymera(['existing', 'plan', 'p.yaml', '-r', 'objects', '-o', format], { files });
    expect((await plan('yaml')).stdout).toBe(
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: secret-1\n  namespace: staging\n  labels:\n    a: b\n',
    );
    expect(JSON.parse((await plan('json')).stdout)).toMatchObject([
      {
        kind: 'Secret',
        name: 'secret-1',
        action: 'update',
        by: [{ policy: 'p', rule: 'r', trigger: 'ConfigMap staging/cm' }],
        patch: [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }],
      },
    ]);
    expect((await plan('table')).stdout).toBe(`ACTION  OBJECT                   RULE  TRIGGER
update  Secret staging/secret-1  p/r   ConfigMap staging/cm
1 trigger; objects: 1 changed, 0 created, 0 deleted; 0 failed
`);
  });

  it('takes only the triggers that are named', async () => {
    const plan = (...triggers: string[]) =>
      kymera(['existing', 'plan', 'p.yaml', '-r', 'objects', '--trigger', ...triggers], { files });
    expect((await plan('ConfigMap/staging/cm')).stdout).toContain('1 changed');
    expect((await plan('c*')).stdout).toContain('1 changed');
    expect((await plan('ConfigMap/other/cm')).stdout).toContain('0 changed');
    expect(await plan('a/b/c/d')).toMatchObject({ exitCode: 2 });
  });

  it('fails when a rule fails, and says which', async () => {
    const missing = policy(
      '{targets: [{apiVersion: v1, kind: Secret, namespace: staging, name: none}], patchStrategicMerge: {metadata: {labels: {a: b}}}}',
    );
    const { exitCode, stderr } = await kymera(['existing', 'plan', 'p.yaml', '-r', 'objects'], {
      files: { ...files, 'p.yaml': missing },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'failed: policy p, rule r, trigger ConfigMap staging/cm: failed to find the target: Secret staging/none does not exist [KYM_TARGET_NOT_FOUND]\n',
    );
  });

  test.each([
    [['existing', 'plan', '-r', 'objects'], 'no policy is named'],
    [['existing', 'plan', 'p.yaml'], 'no object is named'],
    [['existing', 'plan', 'p.yaml', '-r', 'objects', '--cluster'], 'exclude each other'],
    [['existing', 'plan', 'p.yaml', '-r', 'objects', '--context', 'x'], 'require --cluster'],
    [
      ['existing', 'plan', 'p.yaml', '-r', 'objects', '--operation', 'CREATE', '--on-policy-update'],
      'exclude each other',
    ],
    [
      ['existing', 'plan', 'p.yaml', '-r', 'objects', 'objects/map.yaml', 'copy.yaml'],
      'is already defined in objects/map.yaml:1',
    ],
  ])('%j is refused', async (argv, message) => {
    const { exitCode, stderr } = await kymera(argv, { files: { ...files, 'copy.yaml': map } });
    expect({ exitCode, says: stderr.includes(message) }).toEqual({ exitCode: 2, says: true });
  });
});

describe('occasions', () => {
  const plan = async (text: string, ...more: string[]) => {
    const { stdout } = await kymera(['existing', 'plan', 'p.yaml', '-r', 'objects', '-o', 'table', ...more], {
      files: { ...files, 'p.yaml': text },
    });
    return stdout.trimEnd().split('\n').at(-1);
  };
  const patch = 'patchStrategicMerge: {metadata: {labels: {a: b}}}';
  const targets = 'targets: [{apiVersion: v1, kind: Secret}]';

  it('a policy update concerns rules that want it', async () => {
    expect(await plan(labelSecrets, '--on-policy-update')).toContain('0 changed');
    const wanted = policy(`{mutateExistingOnPolicyUpdate: true, ${targets}, ${patch}}`);
    expect(await plan(wanted, '--on-policy-update')).toContain('1 changed');
  });

  it('a rule whose patch differs each time is left out of the regular look only', async () => {
    const random = policy(
      `{${targets}, patchStrategicMerge: {metadata: {labels: {a: "{{ random('[a-z]{4}') }}"}}}}`,
    );
    expect(await plan(random)).toContain('0 changed');
    expect(await plan(random, '--operation', 'UPDATE')).toContain('1 changed');
  });

  it('DELETE counts where it is listed; the trigger is not there any more', async () => {
    const all = policy(
      `{targets: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}], ${patch}}`,
      'kinds: [ConfigMap], operations: [DELETE]',
    );
    expect(await plan(all, '--operation', 'DELETE')).toContain('1 changed, 0 created, 0 deleted');
    expect(await plan(labelSecrets, '--operation', 'DELETE')).toContain('0 changed');
  });
});

describe('apply', () => {
  const generate = `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: g}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    generate: {generateExisting: true, apiVersion: v1, kind: Secret, name: made, namespace: "{{ request.namespace }}", data: {type: Opaque}}
`;
  async function apply(texts: Record<string, string>, ...more: string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-existing-'));
    const finished = await kymera(['existing', 'apply', 'p.yaml', '-r', 'objects', ...more], {
      files: { ...files, ...texts },
      folder,
    });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return { ...finished, read, list: (name: string) => readdirSync(join(folder, name)).sort() };
  }

  it('writes changed objects back where they stand, and leaves the rest of the file', async () => {
    const many = `# head\n---\n${map}---\n# this one\n${secret.replace('\n', ' # v1\n')}---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\n`;
    const { exitCode, stdout, read } = await apply({ 'objects/secret.yaml': many, 'objects/map.yaml': '' });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: '1 trigger; objects: 1 changed, 0 created, 0 deleted; 0 failed\n',
    });
    expect(read('objects/secret.yaml')).toBe(
      `# head\n---\n${map}---\n# this one\napiVersion: v1 # v1\nkind: Secret\nmetadata: {name: secret-1, namespace: staging, labels: {a: b}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\n`,
    );
  });

  it('gives what is made a file beside its trigger; a second time there is nothing to do', async () => {
    const { list, read } = await apply({ 'p.yaml': generate });
    expect(list('objects')).toEqual(['map.yaml', 'secret-staging-made.yaml', 'secret.yaml']);
    expect(read('objects/secret-staging-made.yaml')).toContain('generate.kyverno.io/trigger-name: cm');
  });

  it('writes everything elsewhere on demand', async () => {
    const { read } = await apply({}, '--output', 'all.yaml');
    expect(read('objects/secret.yaml')).toBe(files['objects/secret.yaml']);
    expect(read('all.yaml')).toContain('a: b');
    expect(read('all.yaml')).toContain('kind: ConfigMap');
  });

  it('refuses to write an object that is in a list', async () => {
    const list = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }],
    });
    const { exitCode, stderr, read } = await apply({ 'objects/list.json': list });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('KYM_FILE_NOT_WRITTEN');
    expect(read('objects/secret.yaml')).toBe(files['objects/secret.yaml']);
  });

  it('draws a bar on a terminal', async () => {
    const { stderr } = await kymera(['existing', 'apply', 'p.yaml', '-r', 'objects', '--no-color'], {
      files,
      isTTY: true,
    });
    expect(stderr).toContain(`[${'#'.repeat(30)}] 1/1`);
  });
});
