import type { ApiClient } from '../../src/cluster/api/client.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { waitFor } from '../wait-for.ts';
import { collections, sendObject, sendOk } from './comparison.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const keptLabel = 'e2e/kept';

/**
 * Keeps a policy with parameters in the cluster. When the last policy that reads ConfigMaps is deleted, the API server stops its watch of
 * ConfigMaps and does not start it again: later policies would not see new parameters.
 */
export async function keepParamsWatched(client: ApiClient): Promise<void> {
  const metadata = { name: 'keeps-params-watched', labels: { [keptLabel]: 'true' } };
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const nowhere = { matchLabels: { 'e2e/nowhere': 'true' } };
  await sendOk(client, {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'Never',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: { resourceRules: [rule], namespaceSelector: nowhere },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  });
  await sendOk(client, {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata,
    spec: {
      policyName: metadata.name,
      paramRef: { name: 'none', namespace: 'default', parameterNotFoundAction: 'Allow' },
    },
  });
}

/** Deletes the policies and bindings of the cases, and at the end also the one that keeps parameters watched. */
export async function deletePolicies(client: ApiClient, { all }: { readonly all: boolean }): Promise<void> {
  for (const kind of ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']) {
    const query = all ? '' : `?labelSelector=${encodeURIComponent(`!${keptLabel}`)}`;
    await client.raw({ method: 'DELETE', path: `${collections[kind]}${query}` });
  }
}

/**
 * Waits until the API server enforces all policies that were created before. It reads policies and bindings in the order in which they
 * were written, so the last policy shows that the earlier ones are known.
 */
export async function untilEnforced(client: ApiClient, namespace: string): Promise<void> {
  const name = `canary-of-${namespace}`;
  const rule = (group: string, resource: string) => ({
    apiGroups: [group],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: [resource],
  });
  const expression = 'Object{metadata: Object.metadata{labels: {"canary": "seen"}}}';
  await sendOk(client, {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      // The API server needs some seconds to know the schema of a new kind.
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'Never',
      matchConstraints: { resourceRules: [rule('', 'configmaps'), rule('example.test', 'widgets')] },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    },
  });
  const selector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  await sendOk(client, {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, matchResources: { namespaceSelector: selector } },
  });
  for (const canary of [
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { apiVersion: 'example.test/v1', kind: 'Widget' },
  ]) {
    const object = { ...canary, metadata: { name: 'canary', namespace } };
    await waitFor(
      async () => {
        const { body } = await sendObject(client, object, { dryRun: true });
        const { metadata } = body as { readonly metadata?: { readonly labels?: JsonObject } };
        return metadata?.labels?.['canary'] === 'seen';
      },
      { what: `the policies to be enforced for ${canary.kind}` },
    );
  }
}
