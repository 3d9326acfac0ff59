import { bareObject } from '../../analysis/interplay/example-kinds.ts';
import { type Example, examplesFor } from '../../analysis/interplay/example-object.ts';
import { exampleText, placeAt } from '../../analysis/interplay/example-value.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { namespaceOf } from '../../json/metadata.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path, valueAt } from '../../json/value.ts';
import { asDeclared, declaredSchema } from '../../patch/structured/declared.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import { filterBlocks } from '../../policy/check/match-blocks.ts';
import { clusterScopedKinds } from '../../policy/cluster-scoped-kinds.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { addCelFields } from './cel-fields.ts';
import { type Field, FieldTree } from './field-tree.ts';
import { Random } from './random.ts';
import { requestParts } from './request-parts.ts';
import { addRuleFields } from './rule-fields.ts';
import { defaultUser, type Sample } from './sample.ts';
import {
  isIdentity,
  mayBeAbsent,
  mayBeNull,
  mayHave,
  schemaBelow,
  valuesFor,
  vary,
  withKeys,
} from './variation.ts';

export interface GenerateOptions {
  /** The most objects to generate. */
  readonly limit?: number | undefined;
  readonly seed?: number | undefined;
  /** Exceptions of `kyverno.io` from the policies. */
  readonly exceptions?: readonly JsonObject[] | undefined;
}

const defaultLimit = 1_200;
const kindsPerBlock = 8;
/** Bases per policy; each is varied. */
const maximumBases = 40;

/**
 * Generates requests from policies: objects for which each clause, anchor and condition holds and does not hold, with absent
 * fields, empty and longer lists, and values of other types where the kind allows them. The same policies give the same requests.
 */
export function generateObjects(
  policies: readonly CompiledPolicy[],
  { limit = defaultLimit, seed = 1, exceptions = [] }: GenerateOptions = {},
): readonly Sample[] {
  const tree = new FieldTree();
  for (const { kind, rules, document } of policies) {
    if (isCel(kind)) addCelFields(tree, document);
    else for (const rule of rules) addRuleFields(tree, rule.document);
  }
  const exempted = exceptions.map(ruleLike);
  for (const document of exempted) addRuleFields(tree, document);
  for (const field of ['name', 'namespace']) tree.add(['metadata', field]);
  const old = policies.filter(({ kind }) => !isCel(kind));
  const bases = basesOf(old.length > 0 ? old : policies, exempted);
  const parts = requestParts([
    ...old.flatMap(({ rules }) => rules.map(({ document }) => document)),
    ...exempted,
  ]);
  const samples = new Map<string, Sample>();
  const add = (sample: Sample): void => {
    const key = keyOf(sample);
    if (samples.size < limit && !samples.has(key)) samples.set(key, sample);
  };
  const wholes = bases.flatMap((base) => [
    ...parts.operations.map((operation) => withOperation(base, operation, base.object)),
    ...parts.users.map((user) => ({ ...base, user })),
    ...parts.namespaceLabels.map((namespaceLabels) => ({ ...base, namespaceLabels })),
  ]);
  for (const sample of spread(wholes, Math.ceil(limit * 0.35))) add(sample);
  const share = Math.ceil((limit * 0.4) / Math.max(bases.length, 1));
  const singles = bases.flatMap((base) => spread(singleChanges(base, tree), share));
  for (const sample of spread(singles, Math.ceil(limit * 0.4))) add(sample);
  const random = new Random(seed);
  for (let tries = 0; samples.size < limit && tries < 3 * limit && bases.length > 0; tries++) {
    const base = random.pick(bases) as Sample;
    const schema = declaredSchema(base.object);
    const object = varied(base, tree, schema, random);
    const operation = random.chance(0.6) ? base.operation : (random.pick(parts.operations) ?? 'CREATE');
    const before = random.chance(0.5) ? object : varied(base, tree, schema, random);
    add({
      ...withOperation({ ...base, object, origin: 'generated: several fields changed' }, operation, before),
      user: random.chance(0.7) ? base.user : random.pick(parts.users),
      namespaceLabels: random.chance(0.7)
        ? base.namespaceLabels
        : (random.pick(parts.namespaceLabels) ?? base.namespaceLabels),
    });
  }
  return [...samples.values()];
}

/** An exception selects objects as a rule does. */
function ruleLike(exception: JsonObject): JsonObject {
  const { match = null, conditions = null } = readObject(exception, 'spec') ?? {};
  return { match, preconditions: conditions };
}

function isCel(kind: CompiledPolicy['kind']): boolean {
  return kind !== 'ClusterPolicy' && kind !== 'Policy';
}

function keyOf({ object, oldObject, operation, user, namespaceLabels }: Sample): string {
  return stringifyJson([
    object,
    oldObject ?? null,
    operation,
    user?.info.username ?? '',
    [...(user?.info.groups ?? [])],
    namespaceLabels,
  ]);
}

function withOperation(sample: Sample, operation: Sample['operation'], before: JsonObject): Sample {
  return {
    ...sample,
    operation,
    oldObject: operation === 'CREATE' ? undefined : sameIdentity(before, sample.object),
  };
}

/** An update keeps name and namespace. */
function sameIdentity(before: JsonObject, object: JsonObject): JsonObject {
  const metadata = readObject(object, 'metadata') ?? {};
  return (['name', 'namespace'] as const).reduce((result, field) => {
    const value = metadata[field];
    const path = ['metadata', field];
    return value === undefined ? (without(result, path) as JsonObject) : placeAt(result, path, value);
  }, before);
}

/** Objects that satisfy match blocks, exclude blocks, anchors and conditions, and plain objects of the same and of other kinds. */
function basesOf(policies: readonly CompiledPolicy[], exempted: readonly JsonObject[]): readonly Sample[] {
  const bases = new Map<string, Sample>();
  const add = (sample: Sample): void => {
    const base = withOperation(
      { ...sample, object: admissible(sample.object) },
      sample.operation,
      sample.object,
    );
    const key = keyOf(base);
    if (bases.size < maximumBases && !bases.has(key)) bases.set(key, base);
  };
  for (const policy of policies) {
    for (const rule of isCel(policy.kind) ? [] : policy.rules) {
      const examples = [
        ...examplesFor(policy, rule, kindsPerBlock),
        ...(rule.exclude === undefined
          ? []
          : examplesFor(policy, matching(rule, readObject(rule.document, 'exclude')), kindsPerBlock)),
        ...exempted.flatMap((each) => examplesFor(policy, exemptedFrom(rule, each), kindsPerBlock)),
      ];
      for (const example of examples) {
        const base = sampleOf(example);
        add(base);
        add({ ...base, object: withSecondItems(base.object, declaredSchema(base.object)) });
        add({ ...base, object: plainObject(base.object) });
      }
    }
    for (const [apiVersion, kind] of isCel(policy.kind) ? [...otherKinds, ...moreKinds] : otherKinds) {
      add(
        sampleOf({
          object: plainOf(apiVersion, kind, policy.namespace),
          operation: 'CREATE',
          namespaceLabels: {},
        }),
      );
    }
  }
  return [...bases.values()];
}

const otherKinds = [
  ['v1', 'Pod'],
  ['v1', 'Service'],
  ['apps/v1', 'Deployment'],
  ['v1', 'Namespace'],
] as const;

/** For policies in CEL, which name resources instead of kinds. */
const moreKinds = [
  ['v1', 'ConfigMap'],
  ['v1', 'Secret'],
  ['apps/v1', 'StatefulSet'],
  ['apps/v1', 'DaemonSet'],
  ['batch/v1', 'Job'],
  ['batch/v1', 'CronJob'],
  ['networking.k8s.io/v1', 'Ingress'],
] as const;

function matching(rule: CompiledRule, match: JsonObject = {}): CompiledRule {
  return { ...rule, document: { ...rule.document, match } };
}

/** The rule with the clauses of an exception: what it leaves open is as the rule matches it. */
function exemptedFrom(rule: CompiledRule, exception: JsonObject): CompiledRule {
  const [own] = filterBlocks(readObject(rule.document, 'match') ?? {}, []).blocks;
  const { mode, blocks } = filterBlocks(readObject(exception, 'match') ?? {}, []);
  const filled = blocks.map(({ block, resources }) => ({
    ...block,
    resources: { ...own?.resources, ...resources },
  }));
  return matching(rule, { [mode]: filled });
}

function sampleOf({ object, operation, user, namespaceLabels }: Example): Sample {
  return { origin: 'generated', object, operation, user: user ?? defaultUser, namespaceLabels };
}

function plainOf(apiVersion: string, kind: string, namespace = 'default'): JsonObject {
  const object = bareObject(apiVersion, kind);
  return clusterScopedKinds.has(kind) ? object : placeAt(object, ['metadata', 'namespace'], namespace);
}

function plainObject(object: JsonObject): JsonObject {
  const [apiVersion, kind] = [readText(object, 'apiVersion') ?? '', readText(object, 'kind') ?? ''];
  return plainOf(apiVersion, kind, namespaceOf(object) || undefined);
}

/** The object as an API server sends it: values have the declared types, and items of lists have their keys. */
function admissible(object: JsonObject): JsonObject {
  const schema = declaredSchema(object);
  return withKeys(asDeclared(object, schema), schema) as JsonObject;
}

/** The object with a second item in each list. */
function withSecondItems(object: JsonObject, schema: StructuredSchema | undefined): JsonObject {
  const change = (value: Json, at: StructuredSchema | undefined): Json => {
    if (isArray(value)) {
      const items = value.map((item) => change(item, schemaBelow(at, 0)));
      const [first] = items;
      return isObject(first) ? [...items, second(first, at)] : items;
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, change(inner, schemaBelow(at, key))]),
    );
  };
  return change(object, schema) as JsonObject;
}

function second(item: JsonObject, schema: StructuredSchema | undefined): JsonObject {
  const keys = schema?.kind === 'list' && schema.keys.length > 0 ? schema.keys : ['name'];
  const [key = 'name'] = keys;
  const value = item[key];
  return {
    ...item,
    [key]: typeof value === 'number' ? value + 1 : `${typeof value === 'string' ? value : 'item'}-2`,
  };
}

/** The base with each field absent, null, and with each of its values. */
function singleChanges(base: Sample, tree: FieldTree): readonly Sample[] {
  const samples: Sample[] = [];
  const visit = (field: Field, path: Path, schema: StructuredSchema | undefined): void => {
    if (isIdentity(path)) return;
    if (path.length > 0) {
      const values = [
        ...(mayBeAbsent(path, schema) ? [undefined] : []),
        ...(mayBeNull(path, schema) ? [null] : []),
        ...valuesFor(field, schema, path),
      ];
      for (const value of values) {
        const object = changed(base.object, path, value);
        if (object !== undefined && isNamed(object, base.object))
          samples.push({ ...base, object, origin: `generated: ${path.join('.')} changed` });
      }
    }
    for (const [text, inner] of field.members) {
      const key = /[*?]/.test(text) ? exampleText(text) : text;
      if (!key.includes('{{') && mayHave(schema, key)) visit(inner, [...path, key], schemaBelow(schema, key));
    }
    if (field.item !== undefined && mayHave(schema, 0))
      visit(field.item, [...path, 0], schemaBelow(schema, 0));
  };
  visit(tree.root, [], declaredSchema(base.object));
  return samples;
}

/** Undefined if nothing changes. */
function changed(object: JsonObject, path: Path, value: Json | undefined): JsonObject | undefined {
  const current = valueAt(object, path);
  if (value !== undefined) return current === value ? undefined : placeAt(object, path, value);
  return current === undefined ? undefined : (without(object, path) as JsonObject);
}

function without(value: Json, [token, ...rest]: Path): Json {
  if (token === undefined) return value;
  if (isArray(value)) {
    const items = value.map((item, index) =>
      index === token && rest.length > 0 ? without(item, rest) : item,
    );
    return rest.length === 0 ? items.filter((_, index) => index !== token) : items;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (key !== token) return [[key, inner]];
      return rest.length === 0 ? [] : [[key, without(inner, rest)]];
    }),
  );
}

/** An API server sends objects with a name, or a prefix of it, and with the namespace of the request, if it has one. */
function isNamed(object: JsonObject, base: JsonObject): boolean {
  const metadata = readObject(object, 'metadata') ?? {};
  const isText = (value: Json | undefined) => typeof value === 'string' && value !== '';
  const hadNamespace = isText(valueAt(base, ['metadata', 'namespace']));
  return isText(metadata['name']) && isText(metadata['namespace']) === hadNamespace;
}

function varied(
  base: Sample,
  tree: FieldTree,
  schema: StructuredSchema | undefined,
  random: Random,
): JsonObject {
  const object = vary(base.object, tree.root, schema, random);
  if (!isObject(object)) return base.object;
  return isNamed(object, base.object)
    ? object
    : sameIdentity({ ...object, metadata: asMap(object['metadata']) }, base.object);
}

function asMap(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** At most `count` of the items, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items;
  return Array.from(
    { length: count },
    (_, index) => items[Math.floor((index * items.length) / count)] as Item,
  );
}
