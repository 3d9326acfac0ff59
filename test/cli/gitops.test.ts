import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Json } from '../../src/json/value.ts';
import { policy } from '../../src/policy/policy.testing.ts';
import { kymera } from './in-process.testing.ts';

const off = 'annotations: {pod-policies.kyverno.io/autogen-controllers: none}';
const podMatch = 'any: [{resources: {kinds: [Pod]}}]';
const pods = (mutate: string) => policy({ metadata: off, match: podMatch, mutate });

async function hintsFor(text: string, tool: string): Promise<string> {
  const finished = await kymera(['gitops', 'hints', 'p.yaml', '--for', tool], { files: { 'p.yaml': text } });
  expect(finished).toMatchObject({ exitCode: 0, stderr: '' });
  return finished.stdout;
}

async function argocd(text: string): Promise<Json> {
  return parse(await hintsFor(text, 'argocd')).spec.ignoreDifferences;
}

describe('kymera gitops hints --for argocd', () => {
  it('names exact places by pointers, others by jq', async () => {
    const overlay =
      '{metadata: {labels: {a.b/c: x}}, spec: {containers: [{(image): "*:latest", tty: true}, {name: side, image: x}]}}';
    expect(await argocd(pods(`patchStrategicMerge: ${overlay}`))).toEqual([
      {
        kind: 'Pod',
        jsonPointers: ['/metadata/labels/a.b~1c'],
        jqPathExpressions: ['.spec.containers[]? | select(.name? == "side")', '.spec.containers[]?.tty'],
      },
    ]);
  });

  it('has an entry for every kind that autogen carries a rule to', async () => {
    const text = policy({ match: podMatch, mutate: 'patchStrategicMerge: {spec: {hostPID: false}}' });
    const found = (await argocd(text)) as { group?: string; kind: string; jsonPointers: string[] }[];
    expect(found.map(({ group, kind, jsonPointers }) => `${group ?? ''}/${kind} ${jsonPointers}`)).toEqual([
      '/Pod /spec/hostPID',
      '/ReplicationController /spec/template/spec/hostPID',
      'apps/DaemonSet /spec/template/spec/hostPID',
      'apps/Deployment /spec/template/spec/hostPID',
      'apps/ReplicaSet /spec/template/spec/hostPID',
      'apps/StatefulSet /spec/template/spec/hostPID',
      'batch/CronJob /spec/jobTemplate/spec/template/spec/hostPID',
      'batch/Job /spec/template/spec/hostPID',
    ]);
  });

  it('trusts the manager of what is written without a request', async () => {
    const mutate =
      '\n      targets: [{apiVersion: apps/v1, kind: Deployment}]\n      patchStrategicMerge: {metadata: {labels: {a: b}}}';
    expect(await argocd(policy({ mutate }))).toEqual([
      {
        group: 'apps',
        kind: 'Deployment',
        jsonPointers: ['/metadata/labels/a'],
        managedFieldsManagers: ['kymera'],
      },
    ]);
  });

  it('keeps to the namespace of a Policy', async () => {
    const text = policy({ kind: 'Policy', metadata: 'namespace: shop' });
    expect(await argocd(text)).toEqual([
      { kind: 'ConfigMap', namespace: 'shop', jsonPointers: ['/metadata/labels/a'] },
    ]);
  });

  it('names the list where an index would not stay', async () => {
    const patch = (text: string) => pods(`patchesJson6902: ${JSON.stringify(text)}`);
    expect(await argocd(patch('- {op: remove, path: /spec/containers/0}'))).toEqual([
      { kind: 'Pod', jsonPointers: ['/spec/containers'] },
    ]);
    const both =
      '- {op: add, path: /spec/volumes/-, value: {name: v}}\n- {op: replace, path: /spec/containers/0/image, value: x}';
    expect(await argocd(patch(both))).toEqual([
      {
        kind: 'Pod',
        jsonPointers: ['/spec/containers/0/image'],
        jqPathExpressions: ['.spec.volumes[]? | select(.name? == "v")'],
      },
    ]);
  });

  it('lists the rules of each path, and rules that may write anywhere', async () => {
    expect(await hintsFor(policy(), 'argocd')).toContain('- /metadata/labels/a # p/r\n');
    const anywhere = policy({ mutate: 'patchesJson6902: "{{ request.object.data.patch }}"' });
    expect(await hintsFor(anywhere, 'argocd')).toContain('# p/r writes to paths that depend on variables');
  });

  it('is the same whatever the order of the policies', async () => {
    const files = {
      'a.yaml': policy({ metadata: 'labels: {}' }).replace('name: p', 'name: a'),
      'b.yaml': pods('patchStrategicMerge: {spec: {hostPID: false}}').replace('name: p', 'name: b'),
    };
    const [one, other] = await Promise.all(
      [
        ['a.yaml', 'b.yaml'],
        ['b.yaml', 'a.yaml'],
      ].map((names) => kymera(['gitops', 'hints', ...names], { files })),
    );
    expect(one?.stdout).toBe(other?.stdout);
    expect(one?.stdout).toContain('/metadata/labels/a # a/r');
  });
});

describe('kymera gitops hints --for flux', () => {
  it('has rules for a Kustomization and for a HelmRelease', async () => {
    const text = await hintsFor(
      pods('patchStrategicMerge: {spec: {hostPID: false, containers: [{(name): "*", tty: true}]}}'),
      'flux',
    );
    const [kustomization, release] = parseAllDocuments(text).map((document) => document.toJS());
    const ignore = [{ paths: ['/spec/hostPID'], target: { kind: 'Pod' } }];
    expect(kustomization).toMatchObject({ kind: 'Kustomization', spec: { ignore } });
    expect(release).toMatchObject({
      kind: 'HelmRelease',
      spec: { driftDetection: { mode: 'enabled', ignore } },
    });
    expect(text).toContain('#   Pod: spec.containers[*].tty (p/r)');
  });

  it('leaves to Git what a rule only fills in', async () => {
    const text = await hintsFor(pods('patchStrategicMerge: {spec: {+(hostPID): false}}'), 'flux');
    expect(parseAllDocuments(text)[0]?.toJS()).toMatchObject({ spec: { ignore: [] } });
  });
});
