import { expect, it, vi } from 'vitest';
import { indexedSubject } from '../policy.testing.ts';
import type { Alternative } from './literal-clauses.ts';
import { createIndexer, indexAlternatives, type LiteralIndex } from './rule-index.ts';

interface Item {
  readonly alternatives: readonly Alternative[];
}

const kinds = ['Pod', 'Service'];

function item(number: number): Item {
  const names = { attribute: 'name' as const, values: [`n${number % 7}`, `n${number % 5}`] };
  const labels = { attribute: 'labels' as const, values: [`app a${number % 3}`] };
  // At most one clause: of several, the rarest in the list is indexed.
  const clauses = [[names], [labels], []][number % 3] ?? [];
  return { alternatives: [{ kinds: [kinds[number % 2] as string], clauses }] };
}

function found(index: LiteralIndex) {
  return kinds.flatMap((kind) =>
    ['n0', 'n1', 'n4', 'other'].map((name) => {
      const subject = indexedSubject({ name, labels: { app: `a${name.length}`, tier: 'a' } });
      const positions = [...index.restricted([kind], subject), ...index.unrestricted([kind])];
      return [...new Set(positions)].sort((left, right) => left - right);
    }),
  );
}

function replaced(items: readonly Item[], place: number, by: Item): Item[] {
  return items.map((each, position) => (position === place ? by : each));
}

const alternativesOf = ({ alternatives }: Item) => alternatives;
const fresh = (items: readonly Item[]) => indexAlternatives(items.map(alternativesOf));

it('a list that changes step by step is found as if it were indexed anew', () => {
  const indexer = createIndexer(alternativesOf);
  let items = Array.from({ length: 64 }, (_, number) => item(number));
  for (let step = 0; step < 200; step += 1) {
    const place = (step * 37) % items.length;
    const changed = item(step * 11);
    // Adds, replaces, removes and moves items. Some steps change too much to keep the index.
    const changes: readonly (() => Item[])[] = [
      () => [...items.slice(0, place), changed, ...items.slice(place)],
      () => replaced(items, place, changed),
      () => [...items.slice(0, place), ...items.slice(place + (step % 40))],
      () => [...items.slice(place), ...items.slice(0, place)],
      () => [...items, ...Array.from({ length: step % 30 }, (_, number) => item(number))],
      () => [...items, ...items.slice(place, place + 1)],
    ];
    items = changes[step % changes.length]?.() ?? items;
    expect(found(indexer(items)), `step ${step}`).toEqual(found(fresh(items)));
  }
});

it('an index that was made before stays as it was', () => {
  const indexer = createIndexer(alternativesOf);
  const items = Array.from({ length: 64 }, (_, number) => item(number));
  const indexes = [items, items.slice(3), [...items.slice(3), item(1)]].map((list) => ({
    index: indexer(list),
    list,
  }));
  for (const { index, list } of indexes) expect(found(index)).toEqual(found(fresh(list)));
});

it('only what is new is read, until an eighth has changed', () => {
  const read = vi.fn(alternativesOf);
  const indexer = createIndexer(read);
  const items = Array.from({ length: 64 }, (_, number) => item(number));
  const readsOf = (list: readonly Item[]) => {
    read.mockClear();
    indexer(list);
    return read.mock.calls.length;
  };
  expect(readsOf(items)).toBe(64);
  expect(readsOf([...items, item(1)])).toBe(1);
  expect(readsOf(replaced(items, 5, item(2)))).toBe(1);
  expect(readsOf(items.slice(8))).toBe(0);
  expect(readsOf(items.slice(9))).toBe(55);
});
