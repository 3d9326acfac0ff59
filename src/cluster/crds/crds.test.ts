import { describe, expect, it } from 'vitest';
import { differingCrds } from '../../../scripts/generate-crds.ts';
import { isArray, isObject, type Json, type JsonObject, valueAt } from '../../json/value.ts';
import { customResourceDefinitions } from './crds.ts';
import { mergeSchemas, openApiOf } from './schema.ts';

const definitions = customResourceDefinitions();

function definition(name: string): JsonObject {
  const found = definitions.find((candidate) => valueAt(candidate, ['metadata', 'name']) === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

function versionsOf(name: string): readonly JsonObject[] {
  return valueAt(definition(name), ['spec', 'versions']) as readonly JsonObject[];
}

function fieldOf(name: string, path: string): Json | undefined {
  let current: Json | undefined = valueAt(versionsOf(name)[0] as JsonObject, ['schema', 'openAPIV3Schema']);
  for (const step of path.split('.')) {
    current =
      step === '[]' ? valueAt(current ?? null, ['items']) : valueAt(current ?? null, ['properties', step]);
  }
  return current;
}

describe('custom resource definitions', () => {
  it.each(['deploy/crds', 'charts/kymera/files/crds'])('are committed in %s as the schemas say', (folder) => {
    expect(differingCrds(folder)).toEqual([]);
  });

  it.each([
    ['clusterpolicies.kyverno.io', 'Cluster', ['v1', 'v2beta1']],
    ['policies.kyverno.io', 'Namespaced', ['v1', 'v2beta1', 'v1alpha1']],
    ['kymeraclusterpolicies.kymera.io', 'Cluster', ['v1']],
    ['kymerapolicies.kymera.io', 'Namespaced', ['v1']],
    ['policies.policy.nirmata.io', 'Cluster', ['v1alpha1']],
    ['policyexceptions.kyverno.io', 'Namespaced', ['v2', 'v2beta1']],
    ['globalcontextentries.kyverno.io', 'Cluster', ['v2beta1', 'v2alpha1']],
    ['updaterequests.kyverno.io', 'Namespaced', ['v2']],
  ])('%s has scope %s and the versions %j, the first of them stored', (name, scope, versions) => {
    expect(valueAt(definition(name), ['spec', 'scope'])).toBe(scope);
    expect(versionsOf(name).map((version) => version['name'])).toEqual(versions);
    expect(versionsOf(name).map((version) => version['storage'])).toEqual(versions.map((_, at) => at === 0));
  });

  it.each([
    ['spec.admission', true],
    ['spec.rules.[].skipBackgroundRequests', true],
  ])('have the default of %s', (path, value) => {
    expect(fieldOf('clusterpolicies.kyverno.io', path)).toMatchObject({ default: value });
  });

  it('give all versions of a kind one schema, since nothing converts them', () => {
    for (const each of definitions) {
      const versions = valueAt(each, ['spec', 'versions']) as readonly JsonObject[];
      for (const version of versions) expect(version['schema']).toEqual(versions[0]?.['schema']);
    }
  });

  it.each([
    'spec.rules.[].resource.selector.matchLabels',
    'spec.rules.[].mutate.patches',
    'spec.rules.[].mutate.overlay',
    'spec.rules.[].mutate.replacements',
    'spec.rules.[].mutate.foreach.[].as',
    'spec.rules.[].match.resources.kinds',
    'spec.rules.[].match.any.[].resources.kinds',
  ])('have %s in policies', (path) => {
    expect(fieldOf('policies.kyverno.io', path)).toBeDefined();
  });

  it.each([
    'spec.rules.[].mutate.patchStrategicMerge',
    'spec.rules.[].mutate.overlay',
    'spec.rules.[].mutate.patches.[]',
    'spec.rules.[].mutate.foreach.[].foreach.[]',
    'spec.rules.[].preconditions',
    'spec.rules.[].context.[].variable.value',
    'spec.rules.[].validate',
  ])('keep whatever stands in %s', (path) => {
    expect(fieldOf('clusterpolicies.kyverno.io', path)).toMatchObject({
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });

  it('require of a rule nothing that one of the dialects does without', () => {
    const rule = valueAt(fieldOf('policies.kyverno.io', 'spec.rules') ?? null, ['items']);
    expect(rule).not.toHaveProperty('required');
  });

  it('describe every field', () => {
    const missing: string[] = [];
    const visit = (schema: Json | undefined, path: string) => {
      if (!isObject(schema)) return;
      for (const [name, field] of Object.entries((schema['properties'] ?? {}) as JsonObject)) {
        const at = `${path}.${name}`;
        if (isObject(field) && !Object.hasOwn(field, 'description') && name !== 'metadata') missing.push(at);
        visit(field, at);
      }
      visit(schema['items'], `${path}[]`);
    };
    visit(valueAt(versionsOf('policies.kyverno.io')[0] as JsonObject, ['schema', 'openAPIV3Schema']), '');
    expect(missing.filter((path) => !path.startsWith('.status.autogen'))).toEqual([]);
  });

  it('share no name with each other, so that kubectl knows which is meant', () => {
    const names = definitions.flatMap((each) => {
      const { plural, singular, shortNames } = valueAt(each, ['spec', 'names']) as JsonObject;
      // Kyverno gives the exceptions of both groups the same name, and so `kubectl get` needs the group.
      const isNamedAlike = valueAt(each, ['metadata', 'name']) === 'policyexceptions.policies.kyverno.io';
      return valueAt(each, ['spec', 'group']) === 'policy.nirmata.io' || isNamedAlike
        ? []
        : [plural, singular, ...((shortNames ?? []) as string[])];
    });
    expect(new Set(names).size).toBe(names.length);
  });

  it('write printer columns in the order that kubectl users know', () => {
    const columns = versionsOf('clusterpolicies.kyverno.io')[0]?.['additionalPrinterColumns'];
    expect(isArray(columns) && columns.map((each) => valueAt(each, ['name']))).toEqual([
      'ADMISSION',
      'BACKGROUND',
      'READY',
      'AGE',
      'FAILURE POLICY',
      'VALIDATE',
      'MUTATE',
      'GENERATE',
      'VERIFY IMAGES',
      'MESSAGE',
    ]);
  });
});

describe('merged schemas', () => {
  const field = { type: 'string', description: 'd' } as const;

  it('require what both require', () => {
    const merged = mergeSchemas(
      { a: { ...field, required: true }, b: { ...field, required: true } },
      { a: { ...field, required: true }, b: field, c: { ...field, required: true } },
    );
    expect(openApiOf(merged)).toMatchObject({ required: ['a'] });
  });

  it('limit values only where both do', () => {
    const merged = mergeSchemas({ a: { ...field, enum: ['x'] } }, { a: field });
    expect(openApiOf(merged)).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: 'd' } },
    });
  });

  it('put the values of a list on its items', () => {
    expect(openApiOf({ a: { type: { list: 'string' }, enum: ['x'], description: 'd' } })).toEqual({
      type: 'object',
      properties: { a: { type: 'array', description: 'd', items: { type: 'string', enum: ['x'] } } },
    });
  });
});
