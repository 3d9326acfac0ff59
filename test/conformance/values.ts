import type { BindingLookup } from '../../src/engine/request.ts';
import { setAt } from '../../src/json/edit.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';

/** What a Values document says about one object. */
export interface ValuesFor {
  /** Members of the `request` variable. */
  readonly request: JsonObject;
  readonly bindings: BindingLookup;
  readonly namespaceLabels: ReadonlyMap<string, JsonObject>;
}

export function valuesFor(document: JsonObject | undefined, objectName: string): ValuesFor {
  const policies = objectsIn(document?.['policies']);
  const general = dotted(document?.['globalValues']);
  const ofObject = policies
    .flatMap((policy) => objectsIn(policy['resources']))
    .filter((resource) => resource['name'] === objectName)
    .reduce<JsonObject>((all, resource) => dotted(resource['values'], all), general);
  return {
    request: isObject(ofObject['request']) ? ofObject['request'] : {},
    bindings: (policyName, ruleName) => {
      const policy = policies.find((candidate) => candidate['name'] === policyName);
      const rule = objectsIn(policy?.['rules']).find(
        (candidate) => candidate['name'] === ruleName || `autogen-${String(candidate['name'])}` === ruleName,
      );
      const { request: _request, ...bound } = dotted(rule?.['values'], ofObject);
      return bound;
    },
    namespaceLabels: new Map(
      objectsIn(document?.['namespaceSelector']).map((entry) => [
        String(entry['name']),
        isObject(entry['labels']) ? entry['labels'] : {},
      ]),
    ),
  };
}

/** `{a.b: 1}` → `{a: {b: 1}}`, on top of what is there. */
function dotted(values: Json | undefined, base: JsonObject = {}): JsonObject {
  if (!isObject(values)) return base;
  return Object.entries(values).reduce<JsonObject>((all, [key, value]) => setDotted(all, key, value), base);
}

function setDotted(root: JsonObject, key: string, value: Json): JsonObject {
  const edited = setAt(root, key.split('.'), value);
  return isObject(edited) ? edited : root;
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : [];
}
