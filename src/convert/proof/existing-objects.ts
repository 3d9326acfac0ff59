import { placeAt } from '../../analysis/interplay/example-value.ts';
import { refKey, refOf } from '../../background/object-identity.ts';
import type { ListQuery, ObjectRef } from '../../background/ports.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import { nameOf, namespaceOf } from '../../json/metadata.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { clusterScopedKinds } from '../../policy/cluster-scoped-kinds.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { generateObjects } from './generate-objects.ts';
import type { Sample } from './sample.ts';

const examplesPerTarget = 120;
const perList = 4;
/** One trigger in so many finds none of the objects that it names. */
const absentEvery = 5;

/** Objects of the kinds that rules have as targets, in forms that decide what their patches do. */
export function targetExamples(policies: readonly CompiledPolicy[]): readonly JsonObject[] {
  const rules = policies.flatMap((policy) =>
    policy.rules.flatMap((rule) =>
      readObjects(readObject(rule.document, 'mutate') ?? {}, 'targets').map((target) => ({
        policy,
        rule: ruleOf(rule, target),
        kind: readText(target, 'kind') ?? '',
      })),
    ),
  );
  return rules.flatMap(({ policy, rule, kind }) =>
    generateObjects([{ ...policy, rules: [rule] }], { limit: examplesPerTarget })
      .map(({ object }) => object)
      .filter((object) => object['kind'] === kind),
  );
}

/** The rule as if it matched its target and changed it: what it reads of the target is the object. */
function ruleOf(rule: CompiledRule, target: JsonObject): CompiledRule {
  const { targets: _, ...patch } = readObject(rule.document, 'mutate') ?? {};
  const constant = (field: string): readonly string[] => {
    const value = readText(target, field) ?? '';
    return value === '' || hasVariable(value) ? [] : [value];
  };
  const resources = {
    kinds: [`${readText(target, 'apiVersion') ?? ''}/${readText(target, 'kind') ?? ''}`],
    ...(constant('name').length > 0 && { names: constant('name') }),
    ...(constant('namespace').length > 0 && { namespaces: constant('namespace') }),
    ...(readObject(target, 'selector') !== undefined && { selector: readObject(target, 'selector') ?? {} }),
  };
  const written: JsonObject = {
    name: rule.name,
    context: target['context'] ?? [],
    preconditions: target['preconditions'] ?? {},
    mutate: patch,
  };
  const renamed = stringifyJson(written)
    .replaceAll(/\brequest\.object\b/g, 'trigger.object')
    .replaceAll(/(?<![\w.])target\./g, 'request.object.');
  const document = { ...(parseJson(renamed) as JsonObject), match: { any: [{ resources }] } };
  return { ...rule, exclude: undefined, document };
}

/** Objects with the names that a trigger selects, and others beside them. */
export function existingObjects(
  queries: readonly (ObjectRef | ListQuery)[],
  examples: readonly JsonObject[],
  { object: trigger, namespaceLabels }: Sample,
  index: number,
): readonly JsonObject[] {
  const objects = new Map<string, JsonObject>();
  const keep = (object: JsonObject | undefined): boolean => {
    const key = object === undefined ? '' : refKey(refOf(object));
    if (object === undefined || objects.has(key)) return false;
    objects.set(key, object);
    return true;
  };
  keep(namespaceOfTrigger(trigger, namespaceLabels));
  for (const query of queries) {
    const fitting = examples.filter((example) => isOfKind(example, query));
    const example = (offset: number): JsonObject | undefined =>
      fitting[(index * perList + offset) % fitting.length];
    if ('name' in query) {
      const { name, namespace } = query;
      if (index % absentEvery !== absentEvery - 1) keep(named(example(0), name, namespace));
      keep(named(example(1), `${name}-2`, namespace));
      if (namespace !== '') keep(named(example(2), name, `${namespace}-2`));
      continue;
    }
    for (let offset = 0; offset < perList; offset++) {
      const found = example(offset);
      if (found === undefined) continue;
      const own = namespaceOf(found);
      const namespace = (offset % 2 === 0 ? query.namespace || namespaceOf(trigger) : own) || 'default';
      const isKept = keep(named(found, nameOf(found), namespace));
      if (!isKept) keep(named(found, `${nameOf(found)}-${offset}`, namespace));
    }
  }
  return [...objects.values()];
}

function namespaceOfTrigger(trigger: JsonObject, labels: JsonObject): JsonObject | undefined {
  const name = namespaceOf(trigger);
  return name === '' ? undefined : { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function isOfKind(object: JsonObject, { kind, apiVersion }: ObjectRef | ListQuery): boolean {
  const version = readText(object, 'apiVersion') ?? '';
  return object['kind'] === kind && (version === apiVersion || /[*?]/.test(apiVersion) || apiVersion === '');
}

function named(object: JsonObject | undefined, name: string, namespace: string): JsonObject | undefined {
  if (object === undefined) return undefined;
  const renamed = placeAt(object, ['metadata', 'name'], name);
  const isClustered = clusterScopedKinds.has(readText(object, 'kind') ?? '');
  return isClustered ? renamed : placeAt(renamed, ['metadata', 'namespace'], namespace);
}
