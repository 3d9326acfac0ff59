import { createHash } from 'node:crypto';
import { stringifyJson } from '../../json/json-text.ts';
import { metadataOf, nameOf } from '../../json/metadata.ts';
import { readObjects, readTextMap } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { managedLabels } from '../api/names.ts';
import { apiVersionOf, type ResourceType, resourceTypes } from '../api/resource-path.ts';

/** Shows whether the API server evaluates MutatingAdmissionPolicies: they have no status that says so. */
export interface LoadProbe {
  /** Whether the API server evaluates these objects, which were written before. Call it again until it does. */
  passes(objects: readonly JsonObject[]): Promise<boolean>;
}

export interface LoadProbeOptions {
  readonly client: ApiClient;
  /** A Lease that this replica may update. */
  readonly lease: { readonly namespace: string; readonly name: string };
}

const types = [resourceTypes.admissionPolicies, resourceTypes.admissionPolicyBindings] as const;

/**
 * Writes another MutatingAdmissionPolicy and a binding, and sends a dry run of an update that they annotate. API servers
 * read the objects of a kind in the order in which they were written: if these are in force, the earlier ones are, too.
 */
export function createLoadProbe({ client, lease }: LoadProbeOptions): LoadProbe {
  async function annotates(name: string): Promise<boolean> {
    const held = await client.get(resourceTypes.leases, lease);
    const answer = await client.update(resourceTypes.leases, held, { dryRun: true });
    return readTextMap(metadataOf(answer), 'annotations')[annotationOf(name)] !== undefined;
  }

  return {
    async passes(objects) {
      const name = probeName(objects);
      try {
        if (await annotates(name)) return true;
        for (const [type, object] of probeObjects(name, lease, objects)) await client.create(type, object);
      } catch (error) {
        // They exist already, or another write of the Lease came first.
        if (!hasStatus(error, 409)) throw error;
      }
      return false;
    },
  };
}

/** Whether an object is one of a probe, which can be deleted after it has passed. */
export function isOfProbe(object: JsonObject): boolean {
  return nameOf(object).startsWith(prefix);
}

const prefix = 'kymera-probe-';

/** A name for these versions of the objects. */
function probeName(objects: readonly JsonObject[]): string {
  const versions = objects.map((object) => {
    const { uid = '', generation = 0 } = metadataOf(object);
    return [uid, generation];
  });
  return `${prefix}${createHash('sha256').update(stringifyJson(versions)).digest('hex').slice(0, 16)}`;
}

function annotationOf(name: string): string {
  return `kymera.io/${name}`;
}

function probeObjects(
  name: string,
  lease: LoadProbeOptions['lease'],
  objects: readonly JsonObject[],
): readonly (readonly [ResourceType, JsonObject])[] {
  const apiVersion = apiVersionOf(types[0]);
  const ownerReferences = readObjects(metadataOf(objects[0] ?? {}), 'ownerReferences');
  const metadata = { name, ownerReferences, labels: { ...managedLabels } };
  const rule = { apiGroups: ['coordination.k8s.io'], apiVersions: ['v1'], resources: ['leases'] };
  const annotated = `Object{metadata: Object.metadata{annotations: {${JSON.stringify(annotationOf(name))}: "loaded"}}}`;
  const spec = {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'Never',
    matchConstraints: {
      resourceRules: [{ ...rule, operations: ['UPDATE'], resourceNames: [lease.name] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': lease.namespace } },
    },
    matchConditions: [{ name: 'dry-run', expression: 'request.?dryRun.orValue(false)' }],
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: annotated } }],
  };
  return [
    [types[0], { apiVersion, kind: 'MutatingAdmissionPolicy', metadata, spec }],
    [types[1], { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata, spec: { policyName: name } }],
  ];
}
