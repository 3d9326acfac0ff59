import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { anyStep, keyStep, type Write, type WriteStep, writeOf } from './write-step.ts';

/** The writes of a v1alpha1 overlay, which has no variables and no merge keys. */
export function overlayWritesV1alpha1(overlay: JsonObject, source: Path): readonly Write[] {
  return mapWrites(overlay, [], source);
}

function nodeWrites(value: Json, steps: readonly WriteStep[], source: Path): readonly Write[] {
  if (value === null) return [];
  if (isArray(value)) return value.flatMap((item, index) => itemWrites(item, steps, [...source, index]));
  if (!isObject(value)) return [writeOf(steps, 'set', source, value)];
  if (Object.keys(value).length === 0) return [writeOf(steps, 'default', source, value)];
  return mapWrites(value, steps, source);
}

function mapWrites(map: JsonObject, steps: readonly WriteStep[], source: Path): readonly Write[] {
  return Object.entries(map).flatMap(([key, value]) =>
    parseAnchor(key) === undefined ? nodeWrites(value, [...steps, keyStep(key)], [...source, key]) : [],
  );
}

/** An item with an anchor or without scalars applies to every existing item; any other item is added. */
function itemWrites(item: Json, steps: readonly WriteStep[], source: Path): readonly Write[] {
  if (item === null) return [];
  const isForEach =
    isObject(item) &&
    (holdsAnchor(item) ||
      Object.values(item).every((value) => value === null || (typeof value === 'object' && value !== null)));
  if (isForEach) return mapWrites(item, [...steps, anyStep], source);
  return [writeOf([...steps, { type: 'item', where: scalarsOf(item) }], 'item', source, item)];
}

function holdsAnchor(map: JsonObject): boolean {
  return Object.entries(map).some(
    ([key, value]) => parseAnchor(key) !== undefined || (isObject(value) && holdsAnchor(value)),
  );
}

function scalarsOf(item: Json): Json {
  if (!isObject(item)) return item;
  return Object.fromEntries(
    Object.entries(item).filter(([, value]) => value !== null && typeof value !== 'object'),
  );
}
