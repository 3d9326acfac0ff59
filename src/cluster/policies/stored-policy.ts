import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { storedDefaults, storedRuleDefaults } from '../crds/crds.ts';

/**
 * The policy as its author wrote it. The API server returns every version as the storage version, so v1alpha1 policies
 * are recognised by their fields. The defaults that the API server adds do not exist in v1alpha1, and are removed.
 */
export function authoredPolicy(object: JsonObject): JsonObject {
  const { status: _, ...document } = object;
  if (!isV1alpha1(document)) return document;
  return {
    ...document,
    apiVersion: 'kyverno.io/v1alpha1',
    spec: withoutStoredDefaults(readObject(document, 'spec') ?? {}),
  };
}

function isV1alpha1(document: JsonObject): boolean {
  if (!(readText(document, 'apiVersion') ?? '').startsWith('kyverno.io/')) return false;
  if (readText(document, 'kind') !== 'Policy') return false;
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').some((rule) => {
    const mutate = readObject(rule, 'mutate') ?? {};
    return (
      Object.hasOwn(rule, 'resource') || Object.hasOwn(mutate, 'patches') || Object.hasOwn(mutate, 'overlay')
    );
  });
}

function withoutStoredDefaults(spec: JsonObject): JsonObject {
  const rules = spec['rules'];
  return {
    ...withoutDefaults(spec, storedDefaults),
    ...(isArray(rules)
      ? { rules: rules.map((rule) => (isObject(rule) ? withoutDefaults(rule, storedRuleDefaults) : rule)) }
      : {}),
  };
}

function withoutDefaults(object: JsonObject, defaults: Readonly<Record<string, Json>>): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(
      ([name, value]) => !Object.hasOwn(defaults, name) || defaults[name] !== value,
    ),
  );
}
