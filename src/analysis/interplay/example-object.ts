import type { RequestUser } from '../../engine/request.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { namespaceOf } from '../../json/metadata.ts';
import { read, readObject, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { declaredSchema, schemaAt } from '../../patch/structured/declared.ts';
import { conditionGroups } from '../../policy/check/condition-places.ts';
import { type BlockDocument, filterBlocks } from '../../policy/check/match-blocks.ts';
import { clusterScopedKinds } from '../../policy/cluster-scoped-kinds.ts';
import type { CompiledPolicy, CompiledRule, Operation } from '../../policy/compiled.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import { apiVersionFor } from '../writes/kinds.ts';
import { bareObject } from './example-kinds.ts';
import { placePatch } from './example-patch.ts';
import { exampleText, holdsAt, objectPath, placeAt, readPaths } from './example-value.ts';

/** An object that a rule should change, and its request. */
export interface Example {
  readonly object: JsonObject;
  readonly operation: Operation;
  readonly user?: RequestUser | undefined;
  readonly namespaceLabels: JsonObject;
}

/**
 * Creates objects from a rule: they satisfy its match block, its anchors and its simple preconditions, and contain
 * what its patch needs. Running the rule shows whether it applies to them.
 */
export function examplesFor(
  policy: CompiledPolicy,
  rule: CompiledRule,
  kindsPerBlock = 2,
): readonly Example[] {
  const { mode, blocks } = filterBlocks(readObject(rule.document, 'match') ?? {}, ['match']);
  const groups = mode === 'any' ? blocks.map((block) => [block]) : [blocks];
  const plain = groups
    .flatMap((group) => fromBlocks(group, policy, kindsPerBlock))
    .map((example) => fitted(example, rule));
  const reads = readPaths(rule.document);
  return plain.flatMap((example) => {
    const filled = withReadFields(example, reads);
    return filled === example ? [example] : [example, filled];
  });
}

function fromBlocks(
  blocks: readonly BlockDocument[],
  policy: CompiledPolicy,
  kindsPerBlock: number,
): readonly Example[] {
  const kinds = blocks.flatMap(({ resources }) => readTexts(resources, 'kinds')).slice(0, kindsPerBlock);
  return kinds.flatMap((text) => {
    const parts = parseKind(text);
    if (parts === undefined || parts.subresource !== '' || hasVariable(text)) return [];
    const kind = hasWildcard(parts.kind) ? 'Pod' : parts.kind;
    const start: Example = {
      object: bareObject(apiVersionFor({ ...parts, kind }), kind),
      operation: 'CREATE',
      namespaceLabels: {},
    };
    const example = blocks.reduce(withBlock, start);
    const namespace = policy.namespace ?? namespaceOf(example.object);
    if (clusterScopedKinds.has(kind)) return [example];
    return [
      { ...example, object: placeAt(example.object, ['metadata', 'namespace'], namespace || 'default') },
    ];
  });
}

function withBlock(example: Example, { resources, block }: BlockDocument): Example {
  let { object, namespaceLabels, operation } = example;
  const [name] = [readText(resources, 'name') ?? '', ...readTexts(resources, 'names')].filter(
    (text) => text !== '',
  );
  if (name !== undefined) object = placeAt(object, ['metadata', 'name'], exampleText(name));
  const [namespace] = readTexts(resources, 'namespaces');
  if (namespace !== undefined) object = placeAt(object, ['metadata', 'namespace'], exampleText(namespace));
  const labels = { ...selectorLabels(readObject(resources, 'selector')) };
  for (const [key, value] of Object.entries(labels))
    object = placeAt(object, ['metadata', 'labels', key], value);
  for (const [key, value] of Object.entries(readTextMap(resources, 'annotations')))
    object = placeAt(object, ['metadata', 'annotations', exampleText(key)], exampleText(value));
  namespaceLabels = { ...namespaceLabels, ...selectorLabels(readObject(resources, 'namespaceSelector')) };
  const operations = readTexts(resources, 'operations');
  if (operations.length > 0 && !operations.includes('CREATE')) operation = operations[0] as Operation;
  const user = userOf(block) ?? example.user;
  return { object, operation, namespaceLabels, user };
}

function selectorLabels(selector: JsonObject | undefined): JsonObject {
  if (selector === undefined) return {};
  const labels = Object.entries(readTextMap(selector, 'matchLabels')).map(
    ([key, value]) => [exampleText(key), exampleText(value)] as const,
  );
  const expressions = readObjects(selector, 'matchExpressions').flatMap((expression) => {
    const key = readText(expression, 'key') ?? '';
    const operator = readText(expression, 'operator');
    if (operator === 'In') return [[key, readTexts(expression, 'values')[0] ?? ''] as const];
    return operator === 'Exists' ? [[key, 'example'] as const] : [];
  });
  return Object.fromEntries([...labels, ...expressions]);
}

function userOf(block: JsonObject): RequestUser | undefined {
  const [subject] = readObjects(block, 'subjects');
  const [roles, clusterRoles] = [readTexts(block, 'roles'), readTexts(block, 'clusterRoles')];
  if (subject === undefined && roles.length === 0 && clusterRoles.length === 0) return undefined;
  const name = exampleText(readText(subject ?? {}, 'name') ?? '');
  const kind = readText(subject ?? {}, 'kind');
  const account = `system:serviceaccount:${readText(subject ?? {}, 'namespace') ?? ''}:${name}`;
  return {
    info: {
      username: kind === 'User' ? name : kind === 'ServiceAccount' ? account : 'example',
      groups: kind === 'Group' ? [name] : [],
    },
    roles: roles.slice(0, 1),
    clusterRoles: clusterRoles.slice(0, 1),
  };
}

/** Adds the values that anchors, patches and preconditions need. */
function fitted(example: Example, rule: CompiledRule): Example {
  const object = placePatch(example.object, readObject(rule.document, 'mutate') ?? {});
  return conditionGroups({ path: [], holder: rule.document }).reduce(
    (current, { mode, conditions }) => {
      const wanted = mode === 'any' ? conditions.slice(0, 1) : conditions;
      return wanted.reduce<Example>(withCondition, current);
    },
    { ...example, object },
  );
}

function withCondition(example: Example, condition: Json): Example {
  if (!isObject(condition)) return example;
  const key = readText(condition, 'key') ?? '';
  const value = wantedValue(readText(condition, 'operator') ?? '', read(condition, 'value'));
  if (value === undefined) return example;
  if (/^\{\{\s*request\.operation\b/.test(key)) {
    const isOperation = value === 'CREATE' || value === 'UPDATE';
    return isOperation ? { ...example, operation: value } : example;
  }
  const path = objectPath(key);
  return path === undefined ? example : { ...example, object: placeAt(example.object, path, value) };
}

function wantedValue(operator: string, value: Json | undefined): Json | undefined {
  const first = Array.isArray(value) ? (value as readonly Json[])[0] : value;
  if (first === undefined || (typeof first === 'string' && hasVariable(first))) return undefined;
  switch (operator) {
    case 'Equal':
    case 'Equals':
    case 'In':
    case 'AnyIn':
    case 'AllIn':
      return typeof first === 'string' ? exampleText(first) : first;
    case 'NotEqual':
    case 'NotEquals':
      return first === '' ? 'example' : undefined;
    case 'GreaterThan':
    case 'GreaterThanOrEquals':
      return typeof first === 'number' ? first + 1 : undefined;
    case 'LessThan':
    case 'LessThanOrEquals':
      return typeof first === 'number' ? first - 1 : undefined;
    default:
      return undefined;
  }
}

/** Adds fields that variables read, if the kind can have them: the rule would fail without them. */
function withReadFields(example: Example, reads: ReturnType<typeof readPaths>): Example {
  const absent = reads.filter((path) => !holdsAt(example.object, path) && mayHold(example.object, path));
  if (absent.length === 0) return example;
  return {
    ...example,
    object: absent.reduce((object, path) => placeAt(object, path, 'example'), example.object),
  };
}

/** Whether objects of this kind can have a field. The metadata of a Pod template has labels and annotations, and no name. */
export function mayHold(object: JsonObject, path: readonly string[]): boolean {
  const inTemplate = path.indexOf('template');
  if (inTemplate >= 0 && path[inTemplate + 1] === 'metadata' && isIdentity(path[inTemplate + 2]))
    return false;
  const [apiVersion, kind] = [readText(object, 'apiVersion') ?? '', readText(object, 'kind') ?? ''];
  const isKnown = builtInSchema(apiVersion, kind) !== undefined;
  return !isKnown || schemaAt(declaredSchema(object), path) !== undefined;
}

function isIdentity(field: string | undefined): boolean {
  return field === 'name' || field === 'namespace' || field === 'uid';
}
