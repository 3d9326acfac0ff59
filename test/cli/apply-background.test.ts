import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kymera } from './in-process.testing.ts';

const policy = (rule: string) => `
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Namespace]}}]}
    ${rule}
`;
const files = {
  'targets.yaml': policy(
    'mutate: {targets: [{apiVersion: v1, kind: Secret, name: regcred, namespace: default}], patchStrategicMerge: {metadata: {labels: {a: b}}}}',
  ),
  'generate.yaml': policy(
    'generate: {apiVersion: v1, kind: ConfigMap, name: made, namespace: "{{ request.object.metadata.name }}", data: {data: {k: v}}}',
  ),
  'ns.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n',
  'secret.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: regcred, namespace: default}\n',
};

describe('apply shows what comes after the requests', () => {
  it('changes of targets', async () => {
    const { exitCode, stdout } = await kymera(
      ['apply', 'targets.yaml', '-r', 'ns.yaml', '--target-resource', 'secret.yaml', '-q'],
      { files },
    );
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `--- Secret default/regcred
+++ Secret default/regcred (p/r)
@@ -3,3 +3,5 @@
 metadata:
   name: regcred
   namespace: default
+  labels:
+    a: b
`,
    });
  });

  it('objects that are made', async () => {
    const { stdout } = await kymera(['apply', 'generate.yaml', '-r', 'ns.yaml', '-o', 'yaml', '-q'], {
      files,
    });
    const documents = parseAllDocuments(stdout).map((document) => document.toJS() as { kind: string });
    expect(documents).toMatchObject([
      { kind: 'Namespace' },
      { kind: 'ConfigMap', metadata: { name: 'made', namespace: 'web' }, data: { k: 'v' } },
    ]);
  });

  const labelled = {
    'both.yaml': `${files['targets.yaml']}  - name: team
    match: {any: [{resources: {kinds: [Secret]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {team: x}}}}
`,
    'cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last}\n',
  };
  // The target comes before its trigger, and an object that does not change after it.
  const inputs = ['-r', 'secret.yaml', 'ns.yaml', 'cm.yaml'];
  const run = (format: string, ...more: string[]) =>
    kymera(['apply', 'both.yaml', ...inputs, '-o', format, ...more], { files: { ...files, ...labelled } });

  it('every object once, in input order', async () => {
    const { items } = JSON.parse((await run('json', '-q')).stdout) as { items: object[] };
    expect(items).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'regcred', namespace: 'default', labels: { team: 'x', a: 'b' } },
      },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last' } },
    ]);
    const { stdout } = await run('yaml', '-q');
    expect(parseAllDocuments(stdout).map((document) => document.toJS() as object)).toEqual(items);
  });

  it('once with --output, as a file and as a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-apply-'));
    const setup = { files: { ...files, ...labelled }, folder };
    await kymera(['apply', 'both.yaml', ...inputs, '--output', 'all.yaml'], setup);
    await kymera(['apply', 'both.yaml', ...inputs, '--output', 'out/'], setup);
    expect(parseAllDocuments(readFileSync(join(folder, 'all.yaml'), 'utf8'))).toHaveLength(3);
    expect(parseAllDocuments(readFileSync(join(folder, 'out/regcred-mutated.yaml'), 'utf8'))).toHaveLength(1);
  });

  it('the objects and rules are counted', async () => {
    const { stdout } = await run('diff');
    expect(stdout).toContain('+++ Secret default/regcred (mutated, p/r)');
    expect(stdout).toContain(
      '3 objects: 1 changed, 2 unchanged, 0 failed; rules: 2 applied, 0 skipped, 0 failed\n',
    );
    const target = ['-r', 'ns.yaml', '--target-resource', 'secret.yaml'];
    const other = await kymera(['apply', 'targets.yaml', ...target], { files });
    expect(other.stdout).toContain(
      '2 objects: 1 changed, 1 unchanged, 0 failed; rules: 1 applied, 0 skipped, 0 failed\n',
    );
  });

  it('in a table', async () => {
    const { stdout } = await run('table', '-q');
    expect(stdout).toBe(`RESOURCE                POLICY  RULE  RESULT  MESSAGE
Secret default/regcred  p       team  pass    mutated Secret/regcred in namespace default
Secret default/regcred  p       r     pass    mutated Secret/regcred in namespace default (trigger Namespace web)
`);
  });

  it('with blame for rules of both kinds', async () => {
    const { stdout } = await run('blame', '-q');
    expect(stdout).toContain('p/team +   labels:\np/team +     team: x\np/r    +     a: b\n');
  });

  it('as patches, from the object that was given', async () => {
    const { stdout } = await run('patch', '-q');
    expect(parseAllDocuments(stdout).map((document) => document.toJS() as object)).toMatchObject([
      { name: 'regcred', patch: [{ op: 'add', path: '/metadata/labels', value: { team: 'x', a: 'b' } }] },
    ]);
  });

  it('a target that was not given may be in a cluster: that is a warning', async () => {
    const { exitCode, stderr } = await kymera(['apply', 'targets.yaml', '-r', 'ns.yaml', '-q'], { files });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Secret default/regcred does not exist');
    expect(stderr).toContain('KYM_TARGET_NOT_FOUND');
  });
});

it('points to explain when no rule selects an object', async () => {
  const { stdout } = await kymera(['apply', 'targets.yaml', '-r', 'secret.yaml'], { files });
  expect(stdout).toContain(
    'rules: 0 applied, 0 skipped, 0 failed\nNo rule selects these objects. kymera explain shows why.\n',
  );
});

describe('explain shows background rules', () => {
  it('with their targets and a pointer to existing plan', async () => {
    const argv = [
      'explain',
      'targets.yaml',
      'generate.yaml',
      '-r',
      'ns.yaml',
      '--target-resource',
      'secret.yaml',
    ];
    const { stdout } = await kymera(argv, { files });
    expect(stdout).toBe(`Namespace web (ns.yaml:1)
├─ policy p
│  └─ - rule r: changes existing objects in the background; see kymera existing plan
│     └─ ✓ Secret default/regcred: updated: mutated Secret/regcred in namespace default
│        └─ add /metadata/labels {"a":"b"}
└─ policy p
   └─ - rule r: generates objects in the background; see kymera existing plan
      └─ ✓ ConfigMap web/made: created: generated ConfigMap web/made
`);
    const json = JSON.parse((await kymera([...argv, '-o', 'json'], { files })).stdout) as object[];
    expect(json).toMatchObject([
      {
        background: [
          {
            policy: 'p',
            rule: 'r',
            object: { kind: 'Secret', name: 'regcred' },
            action: 'updated',
            patch: [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }],
          },
          { object: { kind: 'ConfigMap', name: 'made' }, action: 'created' },
        ],
      },
    ]);
  });

  it('without targets for an object that is no trigger', async () => {
    const { stdout } = await kymera(['explain', 'targets.yaml', '-r', 'secret.yaml'], { files });
    expect(stdout).toContain('rule r: skipped: the object does not match');
  });
});
