import { describe, expect, it } from 'vitest';
import { builtInSchema } from './built-in.ts';
import type { StructuredSchema } from './schema.ts';

/** The schema at a path of field names; `[]` is the item of a list. */
function at(apiVersion: string, kind: string, ...path: readonly string[]): StructuredSchema | undefined {
  let schema = builtInSchema(apiVersion, kind);
  for (const step of path) {
    if (schema?.kind === 'list') schema = step === '[]' ? schema.items : undefined;
    else schema = schema?.kind === 'map' ? schema.field(step) : undefined;
  }
  return schema;
}

describe('the schema of built-in kinds', () => {
  it.each([
    ['v1', 'Pod', ['spec', 'containers'], { kind: 'list', merge: 'map', keys: ['name'] }],
    ['v1', 'Pod', ['spec', 'containers', '[]', 'args'], { kind: 'list', merge: 'atomic' }],
    [
      'v1',
      'Pod',
      ['spec', 'containers', '[]', 'ports'],
      { merge: 'map', keys: ['containerPort', 'protocol'] },
    ],
    ['v1', 'Pod', ['spec', 'nodeSelector'], { kind: 'map', atomic: true }],
    ['v1', 'Pod', ['metadata', 'labels'], { kind: 'map', atomic: false }],
    ['v1', 'Pod', ['metadata', 'labels', 'any.key/x'], { kind: 'scalar', scalar: 'string' }],
    ['v1', 'Pod', ['metadata', 'finalizers'], { kind: 'list', merge: 'set' }],
    ['v1', 'Pod', ['spec', 'imagePullSecrets', '[]'], { kind: 'map', atomic: true }],
    ['v1', 'Pod', ['spec', 'hostNetwork'], { kind: 'scalar', scalar: 'boolean' }],
    ['apps/v1', 'Deployment', ['spec', 'replicas'], { kind: 'scalar', scalar: 'number' }],
    ['apps/v1', 'ControllerRevision', ['data'], { kind: 'any', atomic: true }],
    ['v1', 'Service', ['spec', 'ports', '[]', 'targetPort'], { kind: 'scalar', scalar: 'untyped' }],
    ['networking.k8s.io/v1', 'Ingress', ['spec', 'rules'], { kind: 'list', merge: 'atomic' }],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole', ['aggregationRule'], { kind: 'map' }],
    ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', ['webhooks'], { keys: ['name'] }],
    [
      'flowcontrol.apiserver.k8s.io/v1',
      'FlowSchema',
      ['spec', 'priorityLevelConfiguration'],
      { kind: 'map' },
    ],
  ])('%s %s %j', (apiVersion, kind, path, expected) => {
    expect(at(apiVersion, kind, ...path)).toMatchObject(expected);
  });

  it.each([
    ['example.com/v1', 'Pod'],
    ['v1', 'Container'],
    ['v1', 'ObjectReference'],
    ['v2', 'Pod'],
    ['v1', '__proto__'],
    ['apps.k8s.io/v1', 'Deployment2'],
    ['', ''],
  ])('does not know %s %s', (apiVersion, kind) => {
    expect(builtInSchema(apiVersion, kind)).toBeUndefined();
  });

  it('knows the defaults of fields', () => {
    expect(at('v1', 'Pod', 'spec', 'containers', '[]', 'ports', '[]')).toMatchObject({
      defaults: { containerPort: 0, protocol: 'TCP' },
    });
  });

  it('knows the fields in the order of their names', () => {
    expect(at('v1', 'ConfigMap')).toMatchObject({
      fieldNames: ['apiVersion', 'binaryData', 'data', 'immutable', 'kind', 'metadata'],
    });
  });

  it('knows no field that a struct does not declare', () => {
    expect(at('v1', 'Pod', 'spec', 'futureField')).toBeUndefined();
    expect(at('v1', 'Pod', 'constructor')).toBeUndefined();
  });
});
