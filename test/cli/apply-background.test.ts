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

  it('in JSON and as patches too', async () => {
    const run = (format: string) =>
      kymera(['apply', 'targets.yaml', '-r', 'ns.yaml', 'secret.yaml', '-o', format, '-q'], { files });
    const { items } = JSON.parse((await run('json')).stdout) as { items: object[] };
    expect(items).toMatchObject([
      { kind: 'Namespace' },
      { kind: 'Secret' },
      { metadata: { labels: { a: 'b' } } },
    ]);
    expect((await run('patch')).stdout).toContain('path: /metadata/labels');
  });

  it('a target that was not given may be in a cluster: that is a warning', async () => {
    const { exitCode, stderr } = await kymera(['apply', 'targets.yaml', '-r', 'ns.yaml', '-q'], { files });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Secret default/regcred does not exist');
    expect(stderr).toContain('KYM_TARGET_NOT_FOUND');
  });
});
