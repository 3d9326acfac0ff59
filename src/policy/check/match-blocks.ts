import { readList, readObject, readObjects, readTexts } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';

/** One block of a match or exclude filter, as written. */
export interface BlockDocument {
  /** Path in the rule. */
  readonly path: Path;
  readonly resources: JsonObject;
  readonly block: JsonObject;
}

/** The blocks of a filter; the old flat form counts as one block under `any`. */
export interface FilterBlocks {
  readonly mode: 'any' | 'all';
  readonly blocks: readonly BlockDocument[];
}

export function filterBlocks(filter: JsonObject, path: Path): FilterBlocks {
  for (const mode of ['any', 'all'] as const) {
    if (readList(filter, mode).length === 0) continue;
    const blocks = readObjects(filter, mode).map((block, index) => toBlock(block, [...path, mode, index]));
    return { mode, blocks };
  }
  return { mode: 'any', blocks: [toBlock(filter, path)] };
}

function toBlock(block: JsonObject, path: Path): BlockDocument {
  return { path, block, resources: readObject(block, 'resources') ?? {} };
}

/** Whether the block has no restrictions. */
export function isEmptyBlock({ block, resources }: BlockDocument): boolean {
  return isEmptyObject(resources) && userFields.every((field) => readList(block, field).length === 0);
}

export const userFields = ['subjects', 'roles', 'clusterRoles'] as const;

export function isEmptyObject(object: JsonObject): boolean {
  return Object.values(object).every(
    (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
  );
}

/** All kinds that the rule's match names, as written. */
export function matchKinds(rule: JsonObject): readonly string[] {
  return kindsOf(readObject(rule, 'match'));
}

export function excludeKinds(rule: JsonObject): readonly string[] {
  return kindsOf(readObject(rule, 'exclude'));
}

function kindsOf(filter: JsonObject | undefined): readonly string[] {
  if (filter === undefined) return [];
  const blocks = [filter, ...readObjects(filter, 'all'), ...readObjects(filter, 'any')];
  return blocks.flatMap((block) => readTexts(readObject(block, 'resources') ?? {}, 'kinds'));
}
