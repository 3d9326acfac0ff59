import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { storedDefaults } from '../crds/crds.ts';

/**
 * The policy as its author wrote it. The API server hands every version out as the stored one, so the old dialect is
 * recognised by its fields; and it adds defaults, which the old dialect does not know.
 */
export function authoredPolicy(object: JsonObject): JsonObject {
  const { status: _, ...document } = object;
  if (!isOldDialect(document)) return document;
  return {
    ...document,
    apiVersion: 'kyverno.io/v1alpha1',
    spec: withoutDefaults(readObject(document, 'spec') ?? {}),
  };
}

function isOldDialect(document: JsonObject): boolean {
  if (!(readText(document, 'apiVersion') ?? '').startsWith('kyverno.io/')) return false;
  if (readText(document, 'kind') !== 'Policy') return false;
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').some((rule) => {
    const mutate = readObject(rule, 'mutate') ?? {};
    return (
      Object.hasOwn(rule, 'resource') || Object.hasOwn(mutate, 'patches') || Object.hasOwn(mutate, 'overlay')
    );
  });
}

function withoutDefaults(spec: JsonObject): JsonObject {
  const defaults: Readonly<Record<string, Json>> = storedDefaults;
  return Object.fromEntries(
    Object.entries(spec).filter(
      ([name, value]) => !Object.hasOwn(defaults, name) || defaults[name] !== value,
    ),
  );
}
