import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { installCustomResources } from '../custom-resources.ts';
import { program } from '../kymera.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { suite } from '../suite.ts';

suite('commands and CEL policies of a cluster', ({ settings, kubectl, namespace, before, after }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-cel-commands-'));
  const file = (name: string, ...documents: readonly JsonObject[]): string => {
    writeFileSync(join(folder, name), documents.map((each) => JSON.stringify(each)).join('\n---\n'));
    return join(folder, name);
  };
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [program, ...args, '--cluster', '--kubeconfig', settings.kubeconfig], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });
  const celPolicy = (name: string, kind: string, expression: string, spec: JsonObject = {}): JsonObject => ({
    apiVersion:
      kind === 'MutatingAdmissionPolicy' ? 'admissionregistration.k8s.io/v1' : 'policies.kyverno.io/v1',
    kind,
    metadata: { name },
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      ...spec,
    },
  });
  const label = (value: string) => `Object{metadata: Object.metadata{labels: {"team": ${value}}}}`;
  const fromCluster = label(
    `string(dyn(resource.Get("v1", "configmaps", "${namespace}", "owners")).data.team)`,
  );
  const stored: readonly JsonObject[] = [
    celPolicy('runs', 'MutatingPolicy', fromCluster),
    celPolicy('portable', 'MutatingPolicy', label('"blue"')),
    {
      ...celPolicy('own', 'NamespacedMutatingPolicy', label('"blue"')),
      metadata: { name: 'own', namespace },
    },
    labelPolicy('rule', 'ConfigMap', { a: 'b' }),
    celPolicy('native', 'MutatingAdmissionPolicy', label('"blue"'), { reinvocationPolicy: 'Never' }),
  ];

  before(async () => {
    await installCustomResources(kubectl);
    await kubectl.sendOk('create', configMap('owners', { team: 'blue' }));
    for (const policy of stored) await kubectl.sendOk('create', policy);
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    for (const { kind, metadata } of stored)
      await kubectl.ok('delete', String(kind), String((metadata as JsonObject)['name']));
  });

  const runs = file('runs.yaml', stored[0] as JsonObject);
  const mutatesExisting = celPolicy('existing', 'MutatingPolicy', fromCluster, {
    evaluation: { mutateExisting: { enabled: true } },
  });
  const ours = (text: string): readonly JsonObject[] =>
    (JSON.parse(text).policies as JsonObject[]).filter(({ policy }) =>
      ['native', 'portable', 'rule', 'runs', `${namespace}/own`].includes(String(policy)),
    );

  it('kymera migrate check says where each policy of the cluster can run', () => {
    const { stdout, stderr } = run('migrate', 'check', '-o', 'json');
    expect(stderr).toBe('');
    const found = ours(stdout).map(({ policy, verdict, places }) => [
      policy,
      verdict,
      Object.values(places as JsonObject).map((place) => (place as JsonObject)['runs']),
    ]);
    // In Kymera, Kyverno 1.19, Kyverno 1.20 and Kubernetes.
    expect(found.sort()).toEqual([
      [`${namespace}/own`, 'same', ['yes', 'yes', 'yes', 'converted']],
      ['native', 'stays', ['converted', 'converted', 'converted', 'yes']],
      ['portable', 'same', ['yes', 'yes', 'yes', 'converted']],
      ['rule', 'same', ['yes', 'yes', 'converted', 'converted']],
      ['runs', 'same', ['yes', 'yes', 'yes', 'no']],
    ]);
  });

  it('kymera apply shows the changes of a MutatingPolicy that reads the cluster, and makes none', async () => {
    const { stdout, stderr, status } = run('apply', runs, '-n', namespace);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(stdout).toContain(`--- ConfigMap ${namespace}/owners`);
    expect(stdout).toContain('+    team: blue');
    expect((await kubectl.get('configmap', 'owners')).metadata.labels).toBeUndefined();
  });

  it('kymera explain shows what its expressions read', () => {
    const { stdout, stderr, status } = run('explain', runs, '-n', namespace);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(stdout).toContain('add /metadata/labels {"team":"blue"}');
    expect(stdout).toContain('.data.team is "blue"');
  });

  it('kymera existing plan shows only what the policy changes, and apply changes it', async () => {
    const policy = file('existing.yaml', mutatesExisting);
    const plan = run('existing', 'plan', policy);
    expect({ stderr: plan.stderr, status: plan.status }).toEqual({ stderr: '', status: 0 });
    expect(plan.stdout).toContain(`+++ ConfigMap ${namespace}/owners (existing/mutate-existing)`);
    expect(new Set(plan.stdout.match(/^[+-](?![+-]).*$/gm))).toEqual(
      new Set(['+  labels:', '+    team: blue']),
    );
    const applied = run('existing', 'apply', policy);
    expect({ stderr: applied.stderr, status: applied.status }).toEqual({ stderr: '', status: 0 });
    expect((await kubectl.get('configmap', 'owners')).metadata.labels).toEqual({ team: 'blue' });
  });

  it('kymera rbac lists what mutate existing needs', () => {
    const { stdout, status } = run('rbac', file('rbac.yaml', mutatesExisting));
    expect(status).toBe(0);
    expect(stdout).toContain('configmaps');
  });
});
