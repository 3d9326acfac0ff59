import type { BindingLookup, ElementBindingLookup, GroupVersionKind } from '../engine/request.ts';
import { mergeMembers } from '../json/merge.ts';
import { isObject, type Json, type JsonArray, type JsonObject, member } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';
import { parseDottedKey } from './dotted-key.ts';
import type { SubresourceValues, ValuesDocument } from './values-document.ts';

/** The values of the request for one object and one policy. */
export interface RequestValues {
  readonly operation?: Operation | undefined;
  /** Members of `request` other than the objects. */
  readonly variables: JsonObject;
  /** Fields of the object that `request.object.…` sets. */
  readonly object?: JsonObject | undefined;
  readonly oldObject?: JsonObject | undefined;
  readonly bindings?: BindingLookup | undefined;
  readonly elementBindings?: ElementBindingLookup | undefined;
}

export interface ValuesLookup {
  /** False when every policy has the same values, so that all policies share one request. */
  readonly perPolicy: boolean;
  /** The subresource whose body has this kind, if any. */
  subresourceOf(kind: GroupVersionKind): Pick<SubresourceValues, 'subresource' | 'parent'> | undefined;
  forObject(
    policy: { readonly name: string; readonly key: string } | undefined,
    resourceName: string,
  ): RequestValues;
}

const emptyDocument: ValuesDocument = {
  globalValues: {},
  policies: [],
  namespaces: new Map(),
  subresources: [],
};

/** Precedence, lowest first: globalValues, values of the resource, `--set`, values of the rule. */
export function createValuesLookup(
  document: ValuesDocument = emptyDocument,
  settings: JsonObject = {},
): ValuesLookup {
  const global = nestDottedKeys(document.globalValues);
  const set = nestDottedKeys(settings);
  const perPolicy = document.policies.some((policy) =>
    policy.resources.some((resource) => !isEmpty(resource.values)),
  );
  const ruleValues = indexRuleValues(document);
  const elementBindings = elementBindingLookup(document);
  const shared = { ...requestValues(mergeMembers(global, set), ruleValues), ...elementBindings };
  return {
    perPolicy,
    subresourceOf: ({ group, version, kind }) =>
      document.subresources.find(
        (one) => one.kind.group === group && one.kind.version === version && one.kind.kind === kind,
      ),
    forObject: (policy, resourceName) => {
      if (!perPolicy || policy === undefined) return shared;
      let own: JsonObject = {};
      for (const entry of document.policies) {
        if (entry.name !== policy.name && entry.name !== policy.key) continue;
        for (const resource of entry.resources) {
          if (resource.name === resourceName) own = mergeMembers(own, nestDottedKeys(resource.values));
        }
      }
      if (isEmpty(own)) return shared;
      const values = mergeMembers(mergeMembers(global, own), set);
      return { ...requestValues(values, ruleValues), ...elementBindings };
    },
  };
}

type RuleValues = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

function indexRuleValues(document: ValuesDocument): RuleValues {
  const index = new Map<string, Map<string, JsonObject>>();
  for (const policy of document.policies) {
    const rules = index.get(policy.name) ?? new Map<string, JsonObject>();
    index.set(policy.name, rules);
    for (const rule of policy.rules) {
      if (!isEmpty(rule.values))
        rules.set(rule.name, mergeMembers(rules.get(rule.name) ?? {}, nestDottedKeys(rule.values)));
    }
  }
  return index;
}

function requestValues(values: JsonObject, ruleValues: RuleValues): RequestValues {
  const { request: given, ...roots } = values;
  const { object, oldObject, ...variables } = isObject(given) ? given : ({} as JsonObject);
  const operation = member(variables, 'operation');
  const bindings = bindingLookup(roots, ruleValues);
  return {
    variables,
    ...(typeof operation === 'string' && operation !== '' ? { operation: operation as Operation } : {}),
    ...(isObject(object) ? { object } : {}),
    ...(isObject(oldObject) ? { oldObject } : {}),
    bindings,
  };
}

function bindingLookup(roots: JsonObject, ruleValues: RuleValues): BindingLookup | undefined {
  if (isEmpty(roots) && ruleValues.size === 0) return undefined;
  const base = isEmpty(roots) ? undefined : roots;
  const known = new Map<string, Readonly<Record<string, Json>> | undefined>();
  return (policy, rule) => {
    const key = `${policy}\n${rule}`;
    if (known.has(key)) return known.get(key);
    const name = policy.slice(policy.indexOf('/') + 1);
    const own = ruleValues.get(policy)?.get(rule) ?? ruleValues.get(name)?.get(rule);
    const bound = own === undefined ? base : mergeMembers(roots, own);
    known.set(key, bound);
    return bound;
  };
}

/**
 * Kyverno always uses the first value of each list. Here each element gets its own value, and the last value applies to the remaining
 * elements.
 */
function elementBindingLookup(document: ValuesDocument): Pick<RequestValues, 'elementBindings'> {
  const lists = new Map<string, Readonly<Record<string, JsonArray>>>();
  for (const policy of document.policies) {
    for (const rule of policy.rules) {
      const key = `${policy.name}\n${rule.name}`;
      if (!isEmpty(rule.foreachValues)) lists.set(key, { ...lists.get(key), ...rule.foreachValues });
    }
  }
  if (lists.size === 0) return {};
  return {
    elementBindings: (policy, rule, index) => {
      const name = policy.slice(policy.indexOf('/') + 1);
      const own = lists.get(`${policy}\n${rule}`) ?? lists.get(`${name}\n${rule}`);
      if (own === undefined) return undefined;
      const entries = Object.entries(own).filter(([, values]) => values.length > 0);
      return nestDottedKeys(
        Object.fromEntries(entries.map(([key, values]) => [key, values[index] ?? values.at(-1) ?? null])),
      );
    },
  };
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0;
}

/** Converts dotted keys to one nested object: `{ "a.b": 1, "a.c": 2 }` gives `{ a: { b: 1, c: 2 } }`. */
export function nestDottedKeys(values: JsonObject): JsonObject {
  let nested: JsonObject = {};
  for (const [key, value] of Object.entries(values)) {
    const branch = parseDottedKey(key).reduceRight<Json>((inner, step) => ({ [step]: inner }), value);
    nested = mergeMembers(nested, branch as JsonObject);
  }
  return nested;
}
