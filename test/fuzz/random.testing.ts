import { parseJson, stringifyJson } from '../../src/json/json-text.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';

/** A source of random choices that gives the same choices for the same seed. */
export interface Random {
  /** From 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  /** True in one of `times` cases. */
  oneIn(times: number): boolean;
  list<T>(maximum: number, make: () => T): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('there is nothing to pick from');
      return items[below(items.length)] as T;
    },
    oneIn: (times) => below(times) === 0,
    list: (maximum, make) => Array.from({ length: below(maximum + 1) }, make),
  };
}

const oddKeys = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'a/b',
  'a~b',
  '0',
  '-',
  '(x)',
  '+(x)',
  '$patch',
  '<<',
  'ключ',
];
const oddStrings = [
  ...oddKeys,
  '{{ request.object.metadata.name }}',
  '{{',
  '}}',
  '{{@}}',
  '$(x)',
  '*',
  '?*',
  '!x',
  '>5',
  '1-10',
  '1e400',
  '9007199254740993',
  '100Mi',
  '-0',
  'null',
  '\u0000',
  '\ud800',
  '\u2028',
  'x'.repeat(300),
  '<(a)',
  '2024-01-02T03:04:05Z',
  '10.0.0.0/8',
];
const oddNumbers = [0, -1, 1.5, 1e21, -1e-7, 4_294_967_296, 9_007_199_254_740_993n, -(2n ** 63n), 2n ** 64n];

export function oddString(random: Random): string {
  return random.pick(oddStrings);
}

/** A value that few programs expect. */
export function oddValue(random: Random, depth = 3): Json {
  switch (random.below(depth > 0 ? 7 : 4)) {
    case 0:
      return null;
    case 1:
      return random.oneIn(2);
    case 2:
      return random.pick(oddNumbers);
    case 3:
      return oddString(random);
    case 4:
      return random.list(3, () => oddValue(random, depth - 1));
    case 5:
      return objectFrom(random.list(3, () => [oddString(random), oddValue(random, depth - 1)]));
    default:
      return Array.from({ length: 20 }).reduce<Json>(
        (inner) => (random.oneIn(2) ? [inner] : { a: inner }),
        1,
      );
  }
}

/** Keys are data: `__proto__` becomes a member of its own. */
function objectFrom(entries: readonly (readonly [string, Json])[]): JsonObject {
  const members = entries.map(([key, value]) => `${JSON.stringify(key)}:${stringifyJson(value)}`);
  return parseJson(`{${members.join()}}`) as JsonObject;
}

/** A copy with some changes: a value replaced, removed, duplicated or moved elsewhere, or a key renamed. */
export function mutateJson<T extends Json>(
  value: T,
  random: Random,
  keys: readonly string[] = oddKeys,
): Json {
  let result: Json = value;
  for (let count = 1 + random.below(3); count > 0; count--) result = changeOne(result, random, keys);
  return result;
}

function changeOne(value: Json, random: Random, keys: readonly string[]): Json {
  const isInner =
    (Array.isArray(value) && value.length > 0) || (isObject(value) && Object.keys(value).length > 0);
  if (!isInner || random.oneIn(8)) return oddValue(random);
  if (Array.isArray(value)) {
    const at = random.below(value.length);
    const item = value[at] as Json;
    switch (random.below(6)) {
      case 0:
        return value.toSpliced(at, 1);
      case 1:
        return [...value, item];
      case 2:
        return value.toSpliced(random.below(value.length + 1), 0, oddValue(random));
      default:
        return value.with(at, changeOne(item, random, keys));
    }
  }
  const entries = Object.entries(value as JsonObject);
  const at = random.below(entries.length);
  const [key, member] = entries[at] as [string, Json];
  switch (random.below(7)) {
    case 0:
      return objectFrom(entries.toSpliced(at, 1));
    case 1:
      return objectFrom(entries.with(at, [random.pick(keys), member]));
    case 2:
      return objectFrom([...entries, [random.pick(keys), oddValue(random)]]);
    default:
      return objectFrom(entries.with(at, [key, changeOne(member, random, keys)]));
  }
}
