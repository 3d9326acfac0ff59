import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type OpenApiDocument, renderMergeTypes } from '../../scripts/generate-merge-types.ts';
import { mergeSchemaFor, type SchemaNode } from './merge-schema.ts';

function mergeKeysAt(apiVersion: string, kind: string, path: string): readonly string[] | undefined {
  let node: SchemaNode | undefined = mergeSchemaFor(apiVersion, kind);
  for (const step of path.split('.')) node = step === '[]' ? node?.items : node?.fields.get(step);
  return node?.mergeKeys;
}

describe('lists that are merged', () => {
  it.each([
    ['v1', 'Pod', 'spec.containers', ['name']],
    ['v1', 'Pod', 'spec.initContainers', ['name']],
    ['v1', 'Pod', 'spec.ephemeralContainers', ['name']],
    ['v1', 'Pod', 'spec.volumes', ['name']],
    ['v1', 'Pod', 'spec.imagePullSecrets', ['name']],
    ['v1', 'Pod', 'spec.hostAliases', ['ip']],
    ['v1', 'Pod', 'spec.topologySpreadConstraints', ['topologyKey', 'whenUnsatisfiable']],
    ['v1', 'Pod', 'spec.containers.[].env', ['name']],
    ['v1', 'Pod', 'spec.containers.[].ports', ['containerPort', 'protocol']],
    ['v1', 'Pod', 'spec.containers.[].volumeMounts', ['mountPath']],
    ['v1', 'Pod', 'spec.containers.[].volumeDevices', ['devicePath']],
    ['v1', 'Pod', 'spec.ephemeralContainers.[].env', ['name']],
    ['v1', 'Pod', 'spec.ephemeralContainers.[].volumeMounts', ['mountPath']],
    ['v1', 'Pod', 'status.conditions', ['type']],
    ['v1', 'Pod', 'status.podIPs', ['ip']],
    ['v1', 'Pod', 'metadata.finalizers', []],
    ['v1', 'Pod', 'metadata.ownerReferences', ['uid']],
    ['v1', 'Service', 'spec.ports', ['port', 'protocol']],
    ['v1', 'Service', 'status.conditions', ['type']],
    ['v1', 'ServiceAccount', 'secrets', ['name']],
    ['v1', 'ComponentStatus', 'conditions', ['type']],
    ['v1', 'Namespace', 'status.conditions', ['type']],
    ['v1', 'Node', 'spec.podCIDRs', []],
    ['v1', 'Node', 'status.addresses', ['type']],
    ['v1', 'Node', 'status.conditions', ['type']],
    ['v1', 'PersistentVolumeClaim', 'status.conditions', ['type']],
    ['v1', 'ReplicationController', 'spec.template.spec.containers', ['name']],
    ['v1', 'ReplicationController', 'status.conditions', ['type']],
    ['apps/v1', 'DaemonSet', 'status.conditions', ['type']],
    ['apps/v1', 'Deployment', 'spec.template.spec.containers', ['name']],
    ['apps/v1', 'Deployment', 'status.conditions', ['type']],
    ['apps/v1', 'ReplicaSet', 'status.conditions', ['type']],
    ['apps/v1', 'StatefulSet', 'spec.template.spec.containers.[].env', ['name']],
    ['apps/v1', 'StatefulSet', 'spec.volumeClaimTemplates.[].metadata.finalizers', []],
    ['batch/v1', 'Job', 'spec.template.spec.volumes', ['name']],
    ['batch/v1', 'Job', 'status.conditions', ['type']],
    ['batch/v1', 'CronJob', 'spec.jobTemplate.spec.template.spec.containers', ['name']],
    ['batch/v1beta1', 'CronJob', 'spec.jobTemplate.spec.template.spec.containers', ['name']],
    ['policy/v1', 'PodDisruptionBudget', 'status.conditions', ['type']],
    ['policy/v1beta1', 'PodDisruptionBudget', 'status.conditions', ['type']],
    ['storage.k8s.io/v1', 'CSINode', 'spec.drivers', ['name']],
    ['storage.k8s.io/v1beta1', 'CSINode', 'spec.drivers', ['name']],
    ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'webhooks', ['name']],
    ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'webhooks', ['name']],
    ['admissionregistration.k8s.io/v1beta1', 'MutatingWebhookConfiguration', 'webhooks', ['name']],
    ['apiregistration.k8s.io/v1', 'APIService', 'status.conditions', ['type']],
    ['apiregistration.k8s.io/v1beta1', 'APIService', 'status.conditions', ['type']],
    ['extensions/v1beta1', 'Ingress', 'metadata.finalizers', []],
  ])('%s %s %s', (apiVersion, kind, path, keys) => {
    expect(mergeKeysAt(apiVersion, kind, path)).toEqual(keys);
  });
});

describe('lists that are replaced', () => {
  it.each([
    ['v1', 'Pod', 'spec.containers.[].args'],
    ['v1', 'Pod', 'spec.containers.[].envFrom'],
    ['v1', 'Pod', 'spec.containers.[].securityContext.capabilities.add'],
    ['v1', 'Pod', 'spec.tolerations'],
    ['v1', 'ServiceAccount', 'imagePullSecrets'],
    ['v1', 'Endpoints', 'subsets'],
    ['apps/v1', 'StatefulSet', 'spec.volumeClaimTemplates'],
    ['networking.k8s.io/v1', 'Ingress', 'spec.rules'],
    ['networking.k8s.io/v1', 'Ingress', 'spec.tls'],
    ['rbac.authorization.k8s.io/v1', 'Role', 'rules'],
    ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'subjects'],
  ])('%s %s %s', (apiVersion, kind, path) => {
    expect(mergeSchemaFor(apiVersion, kind)).toBeDefined();
    expect(mergeKeysAt(apiVersion, kind, path)).toBeUndefined();
  });
});

describe('kinds without a schema', () => {
  it.each([
    ['example.org/v1', 'Widget'],
    ['v2', 'Pod'],
    ['apps/v1beta1', 'Deployment'],
    ['__proto__', 'constructor'],
    ['v1', 'PodList'],
  ])('%s %s', (apiVersion, kind) => {
    expect(mergeSchemaFor(apiVersion, kind)).toBeUndefined();
  });
});

describe('the generated table', () => {
  const swagger = newestSwagger();
  it('is what its generator prints today', ({ skip }) => {
    if (typeof swagger === 'string') return skip(swagger);
    const committed = readFileSync(new URL('./generated/merge-types.ts', import.meta.url), 'utf8');
    expect(renderMergeTypes(JSON.parse(readFileSync(swagger.file, 'utf8')) as OpenApiDocument)).toBe(
      committed,
    );
  });
});

/** The OpenAPI document the committed table was made from, or why it is not here. */
function newestSwagger(): { readonly file: string } | string {
  try {
    const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();
    const modules = join(cache, 'k8s.io');
    const version = readdirSync(modules).find((name) => name === 'kubernetes@v1.36.3');
    if (version === undefined) return 'k8s.io/kubernetes v1.36.3 is not in the Go module cache';
    const file = join(modules, version, 'api/openapi-spec/swagger.json');
    return existsSync(file) ? { file } : `${file} is missing`;
  } catch {
    return 'there is no Go tool chain';
  }
}
