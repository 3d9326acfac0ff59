import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { type BlockDocument, filterBlocks, isEmptyBlock } from '../../policy/check/match-blocks.ts';
import { isNamespacedKind } from '../../policy/cluster-scoped-kinds.ts';
import { allOf, anyOf, bool, listText, not, precedence, quote, text } from '../expression/cel-text.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { type Clause, translateClauses } from './clauses.ts';
import { kindTest, type MatchedKind, matchedKind, resourceRules } from './kinds.ts';

export interface MatchTranslation {
  readonly matchConstraints: JsonObject;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
}

/** A block of `match` or `exclude`. */
interface Block {
  readonly path: string;
  readonly document: JsonObject;
  readonly resources: JsonObject;
  readonly kinds: readonly MatchedKind[];
  /** Undefined if the block names none. */
  readonly operations: readonly string[] | undefined;
}

const defaultOperations = ['CREATE', 'UPDATE'];

/**
 * Translates `match` and `exclude` of a rule. Kinds and operations become resource rules, everything else conditions that cannot
 * fail: an object selector of the policy would also take the labels of the old object.
 * @public
 */
export function translateMatch(rule: JsonObject, path: string, scope: Scope): MatchTranslation {
  const filter = filterBlocks(readObject(rule, 'match') ?? {}, ['match']);
  const blocks = blocksOf(filter.blocks, path);
  if (blocks.length === 0) throw new NotConvertible(`${path}.match`, 'the rule matches nothing');
  const matched = filter.mode === 'any' ? blocks : [mergeAll(blocks, path)];
  const operations = new Set(matched.flatMap((block) => block.operations ?? defaultOperations));
  if (scope.target === 'map' && operations.has('DELETE')) {
    throw new NotConvertible(`${path}.match`, 'a MutatingAdmissionPolicy cannot match DELETE');
  }
  const object = objectFor(operations, scope);
  const selector = commonNamespaceSelector(matched);
  const options = { object, mode: 'match', skipNamespaceSelector: selector !== undefined } as const;
  const clauses = matched.map((block) => translateClauses(block.document, block.path, options));
  const excluded = excludeTest(rule, path, object);
  const matchConditions = [
    ...conditionsOf(matched, clauses),
    ...(excluded === undefined ? [] : [{ name: 'exclude', expression: excluded.source }]),
  ];
  if (
    scope.target === 'map' &&
    matchConditions.some(({ expression }) => expression.includes('namespaceObject'))
  ) {
    const reason = 'conditions of a MutatingAdmissionPolicy cannot read the labels of the namespace';
    throw new NotConvertible(`${path}.match`, reason);
  }
  return {
    matchConstraints: {
      ...(selector === undefined ? {} : { namespaceSelector: selector }),
      resourceRules: mergedRules(matched),
    },
    matchConditions,
  };
}

/** Whether the match block of an exception holds. Operations do not count in it. */
export function translateExceptionMatch(match: JsonObject, path: string, object: string): CelText {
  const { mode, blocks } = filterBlocks(match, ['match']);
  if (mode === 'all' && blocks.some(isEmptyBlock)) return bool(false);
  const options = { object, mode: 'exception', skipNamespaceSelector: false } as const;
  const tests = blocksOf(blocks, path).map((block) =>
    blockTest(
      { ...block, operations: undefined },
      translateClauses(block.document, block.path, options),
      undefined,
    ),
  );
  return mode === 'any' ? anyOf(tests) : allOf(tests);
}

function conditionsOf(
  blocks: readonly Block[],
  clauses: readonly (readonly Clause[])[],
): MatchTranslation['matchConditions'] {
  const [only, ...others] = blocks;
  const isWide = blocks.some(({ kinds }) => kinds.some((kind) => kind.isWide));
  if (only !== undefined && others.length === 0) {
    const own = (clauses[0] ?? []).map(({ name, test }) => ({ name, expression: test.source }));
    return isWide ? [{ name: 'kinds', expression: kindTest(only.kinds, only.path).source }, ...own] : own;
  }
  if (!isWide && clauses.every((list) => list.length === 0)) return [];
  const unlisted = blocks.some(({ operations }) => operations !== undefined) ? defaultOperations : undefined;
  const tests = blocks.map((block, index) => blockTest(block, clauses[index] ?? [], unlisted));
  return [{ name: 'match', expression: anyOf(tests).source }];
}

/** A deleted object is the old one. */
function objectFor(operations: ReadonlySet<string>, { object }: Scope): string {
  if (!operations.has('DELETE')) return object;
  return `(request.operation == 'DELETE' ? oldObject : ${object})`;
}

function blocksOf(blocks: readonly BlockDocument[], path: string): readonly Block[] {
  return blocks
    .filter((block) => !isEmptyBlock(block))
    .map(({ path: steps, block, resources }): Block => {
      const at = steps.reduce<string>(
        (place, step) => (typeof step === 'number' ? `${place}[${step}]` : `${place}.${step}`),
        path,
      );
      const operations = readTexts(resources, 'operations');
      return {
        path: at,
        document: block,
        resources,
        kinds: readTexts(resources, 'kinds').map((kind, index) =>
          matchedKind(kind, `${at}.resources.kinds[${index}]`),
        ),
        operations: operations.length === 0 ? undefined : operations,
      };
    });
}

const userFields = ['subjects', 'roles', 'clusterRoles'];

/** Blocks of `all` restrict each other; each field may stand in one of them only. */
function mergeAll(blocks: readonly Block[], path: string): Block {
  const [first, ...others] = blocks as readonly [Block, ...Block[]];
  return others.reduce((merged, block) => {
    const repeated =
      Object.keys(block.resources).find((field) => merged.resources[field] !== undefined) ??
      userFields.find((field) => merged.document[field] !== undefined && block.document[field] !== undefined);
    if (repeated !== undefined) {
      throw new NotConvertible(`${path}.match.all`, `two blocks of match.all restrict ${repeated}`);
    }
    const resources = { ...merged.resources, ...block.resources };
    return {
      path: merged.path,
      document: { ...merged.document, ...block.document, resources },
      resources,
      kinds: [...merged.kinds, ...block.kinds],
      operations: merged.operations ?? block.operations,
    };
  }, first);
}

const everyKind: MatchedKind = {
  groups: ['*'],
  isGroupWritten: false,
  version: '*',
  resources: ['*'],
  kind: undefined,
  subresource: '',
  isWide: false,
};

function mergedRules(blocks: readonly Block[]): readonly JsonObject[] {
  const byOperations = new Map<string, { operations: readonly string[]; kinds: MatchedKind[] }>();
  for (const { kinds, operations = defaultOperations } of blocks) {
    const key = operations.join(',');
    const group = byOperations.get(key) ?? { operations, kinds: [] };
    group.kinds.push(...(kinds.length === 0 ? [everyKind] : kinds));
    byOperations.set(key, group);
  }
  return [...byOperations.values()].flatMap(({ operations, kinds }) => resourceRules(kinds, operations));
}

/** Kinds, operations and clauses of one of several blocks. */
function blockTest(
  block: Block,
  clauses: readonly Clause[],
  unlisted: readonly string[] | undefined,
): CelText {
  const tests: CelText[] = [];
  if (block.kinds.length > 0) tests.push(kindTest(block.kinds, block.path));
  const operations = block.operations ?? unlisted;
  if (operations !== undefined) {
    const list = listText(operations.map((operation) => text(quote(operation), 'string')));
    const source = `request.?operation.orValue('') in ${list.source}`;
    tests.push({ ...text(source, 'bool', precedence.relation), total: true });
  }
  return allOf([...tests, ...clauses.map(({ test }) => test)]);
}

function excludeTest(rule: JsonObject, path: string, object: string): CelText | undefined {
  const exclude = readObject(rule, 'exclude');
  if (exclude === undefined) return undefined;
  const filter = filterBlocks(exclude, ['exclude']);
  const options = { object, mode: 'exclude', skipNamespaceSelector: false } as const;
  const tests = blocksOf(filter.blocks, path).map((block) =>
    blockTest(block, translateClauses(block.document, block.path, options), undefined),
  );
  if (tests.length === 0) return undefined;
  return not(filter.mode === 'any' ? anyOf(tests) : allOf(tests));
}

/**
 * The selector of all blocks, if they have the same one and match only objects in namespaces: a selector of the policy never
 * excludes objects without a namespace.
 */
function commonNamespaceSelector(blocks: readonly Block[]): JsonObject | undefined {
  const selectors = blocks.map(({ resources }) => readObject(resources, 'namespaceSelector'));
  const [first] = selectors;
  const shown = first === undefined ? '' : stringifyJson(first);
  const isSame = selectors.every((selector) => selector !== undefined && stringifyJson(selector) === shown);
  const kinds = blocks.flatMap(({ kinds: list }) => list);
  if (!isSame || /[*?]/.test(shown) || kinds.length === 0) return undefined;
  return kinds.every(isNamespaced) ? first : undefined;
}

function isNamespaced({ kind, groups: [group = ''], version, isWide }: MatchedKind): boolean {
  if (kind === undefined || isWide) return false;
  return isNamespacedKind(group === '' ? version : `${group}/${version}`, kind) === true;
}
