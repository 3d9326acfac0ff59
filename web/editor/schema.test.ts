import { expect, it } from 'vitest';
import { definitionOf } from './schema.ts';

it.each([
  ['apiVersion: kyverno.io/v1\nkind: ClusterPolicy', 'policy'],
  ['apiVersion: kyverno.io/v1alpha1\nkind: Policy', 'oldPolicy'],
  ['apiVersion: kyverno.io/v2\nkind: PolicyException', 'exception'],
  ['apiVersion: policies.kyverno.io/v1\nkind: PolicyException', 'celException'],
  ['apiVersion: policies.kyverno.io/v1\nkind: NamespacedMutatingPolicy', 'mutatingPolicy'],
  ['kind: MutatingAdmissionPolicyBinding', 'mutatingAdmissionPolicyBinding'],
  ['kind: Component', 'kustomization'],
  ['resources:\n- a.yaml\n', 'kustomization'],
  ['kind: Pod\nmetadata:\n  labels: {}\n', undefined],
  ['', undefined],
])('%j is completed as %s', (text, expected) => {
  expect(definitionOf(text)).toBe(expected);
});
