import { hasWildcard } from '../../expression/wildcard.ts';
import { equal } from '../../json/equal.ts';
import { read, readList, readObject, readTexts } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import {
  type BlockDocument,
  filterBlocks,
  isEmptyBlock,
  userFields,
} from '../../policy/check/match-blocks.ts';
import { clusterScopedKinds } from '../../policy/cluster-scoped-kinds.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import type { Reporter } from '../../problem.ts';
import { adviseOnKinds } from './kinds.ts';

const code = 'KYM_NEVER_APPLIES';

/** Reports match blocks that no object can satisfy, and rules whose exclude covers everything that match selects. */
export function adviseOnNeverMatching(rule: JsonObject, reporter: Reporter): void {
  const match = readObject(rule, 'match');
  if (match === undefined) return;
  const { mode, blocks } = filterBlocks(match, ['match']);
  const mutatesExisting = read(readObject(rule, 'mutate') ?? {}, 'targets') !== undefined;
  for (const block of blocks) {
    adviseOnKinds(block, reporter);
    adviseOnNames(block, reporter);
    adviseOnNamespaces(block, reporter);
    if (!mutatesExisting) adviseOnOperations(block, reporter);
  }
  if (mode === 'all') adviseOnDisjointKinds(blocks, reporter);
  adviseOnExclude(rule, mode, blocks, reporter);
}

/** The API server sends no object for DELETE. */
function adviseOnOperations({ path, resources }: BlockDocument, reporter: Reporter): void {
  const operations = readTexts(resources, 'operations');
  if (operations.length === 0 || operations.some((operation) => operation !== 'DELETE')) return;
  const message = 'a mutate rule never runs on DELETE: there is no object to change';
  const at: Path = [...path, 'resources', 'operations'];
  reporter.warn(at, code, message, 'Use CREATE and UPDATE, or add mutate.targets to change other objects.');
}

/** Kinds whose names may contain other characters than lower-case letters, digits, `-` and `.`. */
const freelyNamedKinds = /^(Role|RoleBinding|ClusterRole|ClusterRoleBinding|CSIDriver|CSINode|.*Review)$/;
const impossibleInName = /[^a-z0-9.*?-]/;

function adviseOnNames({ path, resources }: BlockDocument, reporter: Reporter): void {
  const kinds = literalKinds(resources);
  if (kinds === undefined || kinds.some((kind) => freelyNamedKinds.test(kind))) return;
  readTexts(resources, 'names').forEach((name, index) => {
    const found = impossibleInName.exec(name)?.[0];
    if (found === undefined && name !== '') return;
    const reason = found === undefined ? 'an empty name' : `${JSON.stringify(found)} in ${name}`;
    const message = `no object can have such a name: ${reason}`;
    const hint = 'Names consist of lower-case letters, digits, - and .; * and ? are wildcards.';
    reporter.warn([...path, 'resources', 'names', index], code, message, hint);
  });
}

function adviseOnNamespaces({ path, resources }: BlockDocument, reporter: Reporter): void {
  const kinds = literalKinds(resources);
  if (kinds === undefined || !kinds.every((kind) => clusterScopedKinds.has(kind))) return;
  const namespaces = readTexts(resources, 'namespaces');
  const at: Path = [...path, 'resources'];
  if (
    namespaces.length > 0 &&
    !kinds.includes('Namespace') &&
    !namespaces.some((text) => /^\*+$/.test(text))
  ) {
    const message = `${kinds.join(', ')} ${kinds.length === 1 ? 'has' : 'have'} no namespace to match`;
    reporter.warn([...at, 'namespaces'], code, message, 'Remove namespaces.');
  }
  if (kinds.every((kind) => kind === 'Namespace') && read(resources, 'namespaceSelector') !== undefined) {
    const message = 'namespaceSelector never matches a Namespace itself';
    reporter.warn(
      [...at, 'namespaceSelector'],
      code,
      message,
      'Use selector, which compares its own labels.',
    );
  }
}

function adviseOnDisjointKinds(blocks: readonly BlockDocument[], reporter: Reporter): void {
  const [first, ...others] = blocks.filter(({ resources }) => literalKinds(resources) !== undefined);
  if (first === undefined) return;
  let common = new Set(literalKinds(first.resources));
  for (const { path, resources } of others) {
    const kinds = literalKinds(resources) ?? [];
    const both = kinds.filter((kind) => common.has(kind));
    if (both.length === 0) {
      const message = `no object is both ${[...common].join(' or ')} and ${kinds.join(' or ')}`;
      reporter.warn([...path, 'resources', 'kinds'], code, message, 'Use any instead of all.');
      return;
    }
    common = new Set(both);
  }
}

/** Undefined when the block has no kinds, or kinds with wildcards. */
function literalKinds(resources: JsonObject): readonly string[] | undefined {
  const kinds = readTexts(resources, 'kinds').map((text) => parseKind(text)?.kind ?? '*');
  return kinds.length === 0 || kinds.some(hasWildcard) ? undefined : kinds;
}

function adviseOnExclude(
  rule: JsonObject,
  mode: 'any' | 'all',
  blocks: readonly BlockDocument[],
  reporter: Reporter,
): void {
  const exclude = readObject(rule, 'exclude');
  if (exclude === undefined) return;
  const excluded = filterBlocks(exclude, ['exclude']);
  if (excluded.mode === 'all' && excluded.blocks.length > 1) return;
  // Loading rejects equal blocks.
  const covers = (outer: BlockDocument) => (inner: BlockDocument) =>
    !equal(outer.block, inner.block) && isWithin(inner, outer);
  const everything = excluded.blocks.find((outer) =>
    mode === 'all' ? blocks.some(covers(outer)) : blocks.every(covers(outer)),
  );
  if (everything === undefined) return;
  const message = 'exclude removes everything that match selects';
  reporter.warn(everything.path, code, message, 'Narrow the exclude block, or remove the rule.');
}

/** Whether every object that matches the inner block matches the outer one. */
function isWithin(inner: BlockDocument, outer: BlockDocument): boolean {
  if (isEmptyBlock(outer) || userFields.some((field) => readList(outer.block, field).length > 0))
    return false;
  return Object.entries(outer.resources).every(([field, wanted]) => {
    const given = read(inner.resources, field);
    if (field !== 'kinds') return given !== undefined && equal(given, wanted);
    const outerKinds = readTexts(outer.resources, 'kinds');
    const innerKinds = readTexts(inner.resources, 'kinds');
    return (
      innerKinds.length > 0 &&
      innerKinds.every(
        (kind) => outerKinds.includes(kind) || (outerKinds.includes('*') && !/[/.]/.test(kind)),
      )
    );
  });
}
