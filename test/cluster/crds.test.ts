import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlaneState } from '../../e2e/control-plane/state.ts';
import { documentedPolicies } from '../../e2e/documented-policies.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { findBinaries, skipReason, startControlPlane, stopControlPlane } from './control-plane.ts';

const binaries = findBinaries();
let state: ControlPlaneState;

function kubectl(args: readonly string[], input?: string): string {
  return execFileSync(state.kubectl, ['--kubeconfig', state.kubeconfig, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Paths of what was written and is not there. */
function pruned(written: Json, kept: Json | undefined, path = ''): readonly string[] {
  if (isArray(written)) {
    return written.flatMap((item, index) =>
      pruned(item, isArray(kept) ? kept[index] : undefined, `${path}/${index}`),
    );
  }
  if (isObject(written)) {
    return Object.entries(written).flatMap(([key, value]) =>
      value === null ? [] : pruned(value, isObject(kept) ? kept[key] : undefined, `${path}/${key}`),
    );
  }
  return written === kept ? [] : [path];
}

/** Each document once, under a name of its own: some share names, and one has a name that Kubernetes does not accept. */
const policies: readonly JsonObject[] = [
  ...new Map(
    [...documentedPolicies('seeds-002'), ...documentedPolicies('seeds-003')].map(({ document }) => [
      JSON.stringify(document),
      document,
    ]),
  ).values(),
].map((document, index) => ({
  ...document,
  metadata: { ...(document['metadata'] as JsonObject), name: `policy-${index}` },
}));

const oldDialect = (document: JsonObject) => String(document['apiVersion']).endsWith('/v1alpha1');
const ofKind = (kind: string) => policies.filter((document) => document['kind'] === kind);
const withVersion = (apiVersion: string, documents: readonly JsonObject[]) =>
  documents.map((document) => ({ ...document, apiVersion }));

/** Every served version, with all policies that can be written in it. */
const written: readonly (readonly [string, readonly JsonObject[]])[] = [
  ...['kyverno.io/v1', 'kyverno.io/v2beta1', 'kymera.io/v1'].map(
    (version) => [`ClusterPolicy of ${version}`, withVersion(version, ofKind('ClusterPolicy'))] as const,
  ),
  ...['kyverno.io/v1', 'kyverno.io/v2beta1', 'kyverno.io/v1alpha1', 'kymera.io/v1'].map(
    (version) => [`Policy of ${version}`, withVersion(version, ofKind('Policy'))] as const,
  ),
  [
    'Policy of policy.nirmata.io/v1alpha1',
    withVersion('policy.nirmata.io/v1alpha1', ofKind('Policy').filter(oldDialect)),
  ],
];

describe.skipIf(binaries === undefined)(
  'custom resource definitions on a real API server',
  { timeout: 120_000 },
  () => {
    beforeAll(async () => {
      if (binaries === undefined) return;
      state = await startControlPlane(binaries);
      kubectl(['apply', '-f', 'deploy/crds']);
      kubectl(['wait', '--for=condition=Established', '--timeout=30s', '-f', 'deploy/crds']);
    }, 180_000);

    afterAll(async () => {
      if (state !== undefined) await stopControlPlane(state.folder, { keepLogs: false });
    }, 60_000);

    it('are accepted, as structural schemas', () => {
      const { items } = JSON.parse(kubectl(['get', 'crds', '-o', 'json'])) as {
        items: readonly JsonObject[];
      };
      const complaints = items.flatMap(({ status }) =>
        ((isObject(status) ? status['conditions'] : []) as readonly JsonObject[]).filter(
          ({ type, status: value }) =>
            (type === 'NonStructuralSchema' && value === 'True') ||
            (type === 'Established' && value !== 'True'),
        ),
      );
      expect(items).toHaveLength(8);
      expect(complaints).toEqual([]);
    });

    it.each(written)('keep all of every %s: client-side and server-side, twice', (_, documents) => {
      expect(documents).not.toEqual([]);
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: documents });
      for (const mode of ['--server-side=false', '--server-side=false', '--server-side', '--server-side']) {
        const conflicts = mode === '--server-side' ? ['--force-conflicts'] : [];
        const shown = kubectl(
          ['apply', '--validate=strict', mode, ...conflicts, '-o', 'json', '-f', '-'],
          input,
        );
        const answer = JSON.parse(shown) as JsonObject;
        expect(pruned(documents, answer['items'] ?? [answer])).toEqual([]);
      }
      kubectl(['delete', '--wait=true', '-f', '-'], input);
    });

    it('are explained by kubectl', () => {
      const text = kubectl([
        'explain',
        'clusterpolicies.spec.rules.mutate.foreach',
        '--api-version=kyverno.io/v1',
      ]);
      expect(text).toContain('patchStrategicMerge');
      expect(text).toContain('An expression, without braces, that yields the elements.');
    });
  },
);

if (binaries === undefined) {
  describe('custom resource definitions on a real API server', () => {
    it('keep what is written', ({ skip }) => skip(skipReason));
  });
}
