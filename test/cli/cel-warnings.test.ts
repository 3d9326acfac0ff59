import { describe, expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

/* Warnings of evaluation: each command that evaluates a policy prints them, once. */

const warning = '.spec.containers[0]: the item has no name';

function policy(resources: string, more = ''): string {
  return `apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [${resources}]}]
${more}  autogen: {podControllers: {controllers: []}}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{spec: Object.spec{containers: [Object.spec.containers{image: "x"}]}}'
`;
}

const existing = `  evaluation: {mutateExisting: {enabled: true}}
  targetMatchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [pods]}]
`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: main, image: nginx}]}
`;
const configMap = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n';
const test = (kind: string, name: string) => `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [policy.yaml]
resources: [resources.yaml]
results:
- {policy: p, isMutatingPolicy: true, kind: ${kind}, resources: [${name}], result: pass}
- {policy: p, isMutatingPolicy: true, kind: ${kind}, resources: [${name}], result: pass}
`;

const files = {
  'policy.yaml': policy('pods'),
  'resources.yaml': pod,
  'kyverno-test.yaml': test('Pod', 'web'),
  'kustomization.yaml': 'resources: [resources.yaml]\n',
  'in/kustomization.yaml': 'resources: [../resources.yaml]\ntransformers: [../policy.yaml]\n',
};
const existingFiles = {
  'policy.yaml': policy('configmaps', existing),
  'resources.yaml': pod + configMap,
  'kyverno-test.yaml': test('ConfigMap', 'c'),
};

function occurrences({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): number {
  return (stdout + stderr).split(warning).length - 1;
}

describe('an item without its key is reported once', () => {
  it.each([
    ['apply', 'policy.yaml', '-r', 'resources.yaml'],
    ['explain', 'policy.yaml', '-r', 'resources.yaml'],
    ['test', '.'],
    ['build', '.', '--policies', 'policy.yaml'],
    ['build', 'in', '--load-restrictor', 'LoadRestrictionsNone'],
    ['diff', '.', 'resources.yaml', '--policies', 'policy.yaml'],
  ])('by kymera %s %s', async (...argv) => {
    expect(occurrences(await kymera(argv, { files }))).toBe(1);
  });

  it('by kymera transform', async () => {
    expect(occurrences(await kymera(['transform', 'policy.yaml'], { files, stdin: pod }))).toBe(1);
  });

  it.each([
    ['apply', 'policy.yaml', '-r', 'resources.yaml'],
    ['test', '.'],
    ['existing', 'plan', 'policy.yaml', '-r', 'resources.yaml', '--operation', 'CREATE'],
    ['existing', 'apply', 'policy.yaml', '-r', 'resources.yaml', '--operation', 'CREATE'],
  ])('about a target, by kymera %s %s', async (...argv) => {
    expect(occurrences(await kymera(argv, { files: existingFiles }))).toBe(1);
  });
});

describe('a value of the annotation kymera.io/without-schema that has no effect', () => {
  const annotated = (value: string) =>
    policy('pods').replace(
      '{name: p}',
      `\n  name: p\n  annotations:\n    kymera.io/without-schema: ${value}`,
    );

  it.each([
    ['"true"', 'has the value "true"'],
    ['Merge', 'has the value "Merge"'],
    ['""', 'has the value ""'],
  ])('%s is a warning at its line', async (value, message) => {
    for (const argv of [
      ['validate', 'policy.yaml'],
      ['apply', 'policy.yaml', '-r', 'resources.yaml'],
      ['build', '.', '--policies', 'policy.yaml'],
    ]) {
      const { stdout, stderr } = await kymera(argv, { files: { ...files, 'policy.yaml': annotated(value) } });
      expect(stdout + stderr).toMatch(
        /policy\.yaml:6:\d+: warning: the annotation kymera.io\/without-schema/,
      );
      expect(stdout + stderr).toContain(message);
      expect(stdout + stderr).toContain('The only value is "merge"');
    }
  });

  it('is not reported for merge', async () => {
    const { stdout, stderr } = await kymera(['validate', 'policy.yaml'], {
      files: { 'policy.yaml': annotated('merge') },
    });
    expect(stdout + stderr).not.toContain('without-schema');
  });
});
