import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { gitopsHints } from '../../src/cli/gitops/hints.ts';
import { matchesWildcard } from '../../src/expression/wildcard.ts';
import { stringifyJson } from '../../src/json/json-text.ts';
import { parsePointer } from '../../src/json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import type { CompiledPolicy } from '../../src/policy/compiled.ts';
import { policy } from '../../src/policy/policy.testing.ts';
import { appliedRules, ownSamples, type Sample, upstreamSamples } from '../conformance/policy-samples.ts';
import { noCorpus } from '../needs.testing.ts';
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

interface Comparison {
  readonly name: string;
  readonly expressions: readonly string[];
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Those that still differ without the ignored places, as Argo CD compares: what is empty then counts as absent. */
function stillDiffering(comparisons: readonly Comparison[]): readonly Comparison[] {
  const branches = comparisons.map(
    ({ expressions }, index) =>
      `if .[0] == ${index} then .[1:] | map(delpaths([${expressions.map((text) => `path(${text})`).join(', ')}])) else `,
  );
  const program = `${branches.join('')} . ${'end '.repeat(branches.length)}`;
  const input = comparisons
    .map(({ before, after }, index) => stringifyJson([index, before, after]))
    .join('\n');
  const { status, stdout, stderr } = spawnSync('jq', ['-c', program], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`jq ${program}: ${stderr}`);
  const lines = stdout.trim().split('\n');
  return comparisons.filter((_, index) => {
    const [before = null, after = null] = JSON.parse(lines[index] ?? '[]') as Json[];
    return JSON.stringify(sorted(prune(before) ?? {})) !== JSON.stringify(sorted(prune(after) ?? {}));
  });
}

function prune(value: Json): Json | undefined {
  if (isArray(value)) {
    const items = value.flatMap((item) => prune(item) ?? []);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value ?? undefined;
  const members = Object.entries(value).flatMap(([key, inner]) => {
    const pruned = prune(inner);
    return pruned === undefined ? [] : [[key, pruned] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** A pointer as Argo CD reads it: a number is an index where there is a list. */
function pointerAsJq(text: string): string {
  const steps = parsePointer(text).map((token) =>
    /^\d+$/.test(token) ? `(.[${token}]?, .[${JSON.stringify(token)}]?)` : `.[${JSON.stringify(token)}]?`,
  );
  return steps.join(' | ');
}

function expressionsFor(
  rule: CompiledPolicy['rules'][number],
  object: JsonObject,
): readonly string[] | undefined {
  const only = { key: 'p', rules: [rule] } as unknown as CompiledPolicy;
  const group = String(object['apiVersion']).includes('/') ? String(object['apiVersion']).split('/')[0] : '';
  const fitting = gitopsHints([only]).filter(
    (hint) => matchesWildcard(hint.group, group ?? '') && matchesWildcard(hint.kind, String(object['kind'])),
  );
  if (fitting.some(({ anywhere }) => anywhere.length > 0)) return undefined;
  return fitting.flatMap(({ paths }) =>
    paths.map(({ path }) => (path.type === 'jq' ? path.text : pointerAsJq(path.text))),
  );
}

/** A version that Kubernetes never had: lists of such objects have no merge keys. */
const unknownVersion = 'psm-unknown-version-list-replaced';

async function differencesLeft(samples: readonly Sample[]): Promise<{ checked: number; left: string[] }> {
  const comparisons: Comparison[] = [];
  for (const sample of samples) {
    if (sample.surroundings.subresource !== undefined || sample.name === unknownVersion) continue;
    for (const object of sample.objects) {
      for (const { rule, before, after } of await appliedRules(sample, object)) {
        const expressions = expressionsFor(rule, before);
        const name = `${sample.name} ${rule.name}: ${expressions?.join(' ; ')}`;
        if (expressions !== undefined) comparisons.push({ name, expressions, before, after });
      }
    }
  }
  const left: string[] = [];
  for (let at = 0; at < comparisons.length; at += 40) {
    left.push(...stillDiffering(comparisons.slice(at, at + 40)).map(({ name }) => name));
  }
  return { checked: comparisons.length, left };
}

function sorted(value: Json): Json {
  if (isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] ?? null)]),
  );
}

const hasJq = spawnSync('jq', ['--version']).status === 0;

describe('with what the hints name left out, nothing that a rule wrote is seen', () => {
  it('in the cases of Kyverno', { timeout: 120_000 }, async ({ skip }) => {
    const samples = upstreamSamples();
    if (!hasJq) return skip('jq is not installed');
    if (samples === undefined) return skip(noCorpus);
    const { checked, left } = await differencesLeft(samples);
    expect(left).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  it('in our own cases', { timeout: 120_000 }, async ({ skip }) => {
    if (!hasJq) return skip('jq is not installed');
    const { checked, left } = await differencesLeft(ownSamples());
    expect(left).toEqual([]);
    expect(checked).toBeGreaterThan(300);
  });
});
