import { isSeq, type YAMLMap } from 'yaml';
import {
  mapAt,
  mapsIn,
  memberOf,
  newList,
  newMap,
  newPair,
  pairOf,
  removePair,
  renameKey,
  textAt,
} from '../../yaml/nodes.ts';

const flatFields = ['resources', 'subjects', 'roles', 'clusterRoles'];

/** Converts `match` and `exclude` of a rule: the flat form becomes a block of `any`, and `name` becomes `names`. */
export function convertFilters(rule: YAMLMap): void {
  for (const field of ['match', 'exclude']) {
    const filter = mapAt(rule, field);
    if (filter === undefined) continue;
    for (const block of [filter, ...mapsIn(filter, 'any'), ...mapsIn(filter, 'all')]) {
      const resources = mapAt(block, 'resources');
      if (resources !== undefined) convertName(resources);
    }
    convertFlat(filter);
  }
}

function convertFlat(filter: YAMLMap): void {
  const hasBlocks = ['any', 'all'].some((mode) => {
    const blocks = memberOf(filter, mode);
    return isSeq(blocks) && blocks.items.length > 0;
  });
  const flat = flatFields.flatMap((field) => pairOf(filter, field) ?? []);
  if (hasBlocks || flat.length === 0 || isEmpty(flat.map((pair) => pair.value))) return;
  filter.items = [newPair('any', newList([newMap(flat)]))];
}

function isEmpty(values: readonly unknown[]): boolean {
  return values.every((value) => {
    const items = (value as { items?: readonly unknown[] | undefined } | null)?.items;
    return value === null || items?.length === 0;
  });
}

function convertName(resources: YAMLMap): void {
  const pair = pairOf(resources, 'name');
  const value = memberOf(resources, 'name');
  if (pair === undefined || value === undefined) return;
  if (textAt(resources, 'name') === '') {
    removePair(resources, pair);
    return;
  }
  if (pairOf(resources, 'names') !== undefined) return;
  renameKey(pair, 'names');
  pair.value = newList([value], true);
}
