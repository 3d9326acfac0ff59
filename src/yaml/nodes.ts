import { isMap, isScalar, isSeq, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';

/** Reads and builds nodes of a YAML document whose scalars are all strings (the failsafe schema). */
export function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

export function memberOf(map: YAMLMap, key: string): Node | undefined {
  return (pairOf(map, key)?.value ?? undefined) as Node | undefined;
}

export function mapAt(map: YAMLMap, ...keys: readonly string[]): YAMLMap | undefined {
  let current: YAMLMap | undefined = map;
  for (const key of keys) {
    const value: Node | undefined = current === undefined ? undefined : memberOf(current, key);
    current = isMap(value) ? value : undefined;
  }
  return current;
}

/** The items of a list that are maps. */
export function mapsIn(map: YAMLMap, key: string): readonly YAMLMap[] {
  const value = memberOf(map, key);
  return isSeq(value) ? value.items.filter((item): item is YAMLMap => isMap(item)) : [];
}

export function textAt(map: YAMLMap, key: string): string | undefined {
  const value = memberOf(map, key);
  return isScalar(value) && typeof value.value === 'string' ? value.value : undefined;
}

/** Keeps the comments of the key. */
export function renameKey(pair: Pair, name: string): void {
  if (isScalar(pair.key)) pair.key.value = name;
}

export function setText(map: YAMLMap, key: string, text: string): void {
  const value = memberOf(map, key);
  if (isScalar(value)) value.value = text;
}

export function newPair(key: string, value: Node): Pair {
  return new Pair(new Scalar(key), value);
}

export function newMap(pairs: readonly Pair[]): YAMLMap {
  const map = new YAMLMap();
  map.items.push(...pairs);
  return map;
}

export function newList(items: readonly Node[], flow = false): YAMLSeq {
  const list = new YAMLSeq();
  list.items.push(...items);
  // A comment cannot be inside a flow list on one line.
  if (flow && items.every((item) => !item.comment && !item.commentBefore)) list.flow = true;
  return list;
}

export function removePair(map: YAMLMap, pair: Pair): void {
  map.items.splice(map.items.indexOf(pair), 1);
}
