import fc from 'fast-check';
import jsonpatch from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { alignLists } from '../../src/json/diff/align.ts';
import { diff, diffText } from '../../src/json/diff/diff.ts';
import { setAt } from '../../src/json/edit.ts';
import { equal } from '../../src/json/equal.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../src/json/value.ts';

const keys = fc.constantFrom(
  ...['a', 'b', 'name', 'a/b', '~', '', '0', '__proto__', 'constructor', 'toString'],
  ...['"', '\\', 'ü/\n', 'k'.repeat(80)],
);
const scalars = fc.oneof(
  fc.constantFrom(null, true, false, '', 'x', 'y'),
  fc.integer({ min: -3, max: 3 }),
  fc.string({ maxLength: 3 }),
);

function objectOf(entries: readonly (readonly [string, Json])[]): JsonObject {
  // fromEntries defines own members, so `__proto__` is one too.
  return Object.fromEntries(entries);
}

const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalars,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map(objectOf),
  ),
}));

/** A value and a variation of it that shares most of its content. */
const variations: fc.Arbitrary<readonly [Json, Json]> = fc
  .tuple(json, fc.infiniteStream(fc.nat(99)), json)
  .map(([value, stream, other]) => [value, vary(value, () => stream.next().value as number, other)] as const);

function vary(value: Json, next: () => number, other: Json): Json {
  const roll = next();
  if (roll < 12) return other;
  if (isArray(value)) {
    return value.flatMap((item) => {
      const kind = next();
      if (kind < 10) return [];
      if (kind < 20) return [other, item];
      return [vary(item, next, other)];
    });
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(() => next() >= 10);
  return objectOf(kept.map(([key, item]) => [key, vary(item, next, other)]));
}

function deepFreeze<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}

function withoutPrototypeKeys(value: Json): boolean {
  const text = JSON.stringify(value);
  return !text.includes('__proto__') && !text.includes('constructor');
}

describe('diff and applyPatch', () => {
  it('apply(a, diff(a, b)) is b, for unrelated values', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(equal(applyPatch(before, diff(before, after)), after)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('apply(a, diff(a, b)) is b, for variations, and fast-json-patch agrees', () => {
    fc.assert(
      fc.property(variations, ([before, after]) => {
        const operations = diff(before, after);
        expect(equal(applyPatch(before, operations), after)).toBe(true);
        fc.pre(withoutPrototypeKeys(before) && withoutPrototypeKeys(after));
        const copies = JSON.parse(JSON.stringify({ before, operations }));
        expect(jsonpatch.applyPatch(copies.before, copies.operations, true).newDocument).toEqual(after);
      }),
      { numRuns: 1000 },
    );
  });

  it('diffText(a, b) is diff(a, b) as JSON, to the letter', () => {
    fc.assert(
      fc.property(variations, ([before, after]) => {
        expect(diffText(before, after)).toBe(JSON.stringify(diff(before, after)));
      }),
      { numRuns: 1000 },
    );
  });

  it('a key with escapes is as long for diff as for diffText', () => {
    const key = 'ü/\n';
    const named = { name: '~N', [key]: 'x' };
    const kept = { [key]: 2, '': 'y', 'a/b': '' };
    const before = { [key]: [true, [false], { 0: 0, a: true, b: kept, 'a/b': 2 }, null] };
    const after = { [key]: [true, { 0: 0, a: named, b: kept, 'a/b': named }, named] };
    expect(diffText(before, after)).toBe(JSON.stringify(diff(before, after)));
  });

  it('diff(a, a) is empty, for a copy too', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(diff(value, value)).toEqual([]);
        expect(diff(value, JSON.parse(JSON.stringify(value)))).toEqual([]);
      }),
    );
  });

  it('is deterministic', () => {
    fc.assert(
      fc.property(variations, ([before, after]) => {
        expect(diff(JSON.parse(JSON.stringify(before)), JSON.parse(JSON.stringify(after)))).toEqual(
          diff(before, after),
        );
      }),
    );
  });

  it('never changes what it is given', () => {
    fc.assert(
      fc.property(variations, ([before, after]) => {
        const operations = diff(deepFreeze(before), deepFreeze(after));
        applyPatch(before, operations);
        applyPatch(before, operations, { lenient: true });
      }),
    );
  });

  it('a patch that changes nothing returns the document itself', () => {
    fc.assert(
      fc.property(json, keys, json, (value, key, other) => {
        const document = { value, [key]: other };
        const copy = JSON.parse(JSON.stringify(other));
        expect(applyPatch(document, diff({}, { [key]: copy }))).toBe(document);
      }),
    );
  });
});

describe('lists', () => {
  const names = fc.uniqueArray(fc.integer({ min: 0, max: 9999 }), { minLength: 5, maxLength: 40 });

  it('untouched items are in no operation: k insertions are k adds, k removals k removes', () => {
    fc.assert(
      fc.property(names, fc.array(fc.nat(39), { minLength: 1, maxLength: 4 }), (ids, places) => {
        const list = ids.map((id) => ({ name: `n${id}`, image: 'registry.example.com/some/image:1.0' }));
        const longer = places.reduce<Json[]>(
          (result, place, count) => result.toSpliced(place % (result.length + 1), 0, { name: `new${count}` }),
          list,
        );
        expect(diff(list, longer).map(({ op }) => op)).toEqual(places.map(() => 'add'));
        expect(diff(longer, list).map(({ op }) => op)).toEqual(places.map(() => 'remove'));
      }),
    );
  });

  it('long lists of few different items, where cuts and ends overlap', () => {
    const few = fc.oneof(
      fc.nat(2),
      fc.nat(2).map((n) => ({ name: `n${n}` })),
      fc.nat(1).map((n) => [n]),
    );
    const long = fc.array(few, { minLength: 60, maxLength: 160 });
    fc.assert(
      fc.property(long, long, (before, after) => {
        expect(applyPatch(before, diff(before, after))).toEqual(after);
        expect(follow(before, after)).toEqual(after);
      }),
    );
  });
});

/** The list that the steps of the alignment make of `before`; diff itself may prefer to replace the whole list. */
function follow(before: readonly Json[], after: readonly Json[]): Json[] {
  const result: Json[] = [];
  let position = 0;
  for (const step of alignLists(before, after)) {
    if (step.type === 'keep') {
      result.push(...before.slice(position, position + step.count));
      position += step.count;
    } else {
      if (step.type === 'change') expect(step.before).toBe(position);
      if (step.type !== 'add') position++;
      if (step.type !== 'remove') result.push(after[step.after] as Json);
    }
  }
  expect(position).toBe(before.length);
  return result;
}

describe('sharing', () => {
  it('members and items beside the path stay the same objects', () => {
    const inner = fc.array(fc.tuple(keys, json), { minLength: 1, maxLength: 5 }).map(objectOf);
    fc.assert(
      fc.property(inner, keys, json, (object, key, value) => {
        const edited = setAt(deepFreeze(object), [key], value) as JsonObject;
        const patched = applyPatch(object, diff(object, edited)) as JsonObject;
        for (const other of Object.keys(object)) {
          if (other === key) continue;
          expect(member(edited, other)).toBe(member(object, other));
          expect(member(patched, other)).toBe(member(object, other));
        }
        expect(member(edited, key)).toBe(value);
      }),
    );
  });
});
