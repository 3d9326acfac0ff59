import { spendList, spendSteps } from '../../json/budget.ts';
import { isNumber, type Json, type JsonArray, typeOf } from '../../json/value.ts';
import { type Arguments, defineFunctions } from './define.ts';
import { orderOf } from './numbers.ts';

const people = [
  { n: 'b', age: 2 },
  { n: 'a', age: 1 },
];

/** Functions that apply an expression to every item. */
export const orderingFunctions = defineFunctions({
  map: {
    parameters: ['expref', 'array'],
    returns: 'array',
    description: 'The result of an expression for each item; a missing key gives null.',
    example: { expression: 'map(&n, @)', data: people, result: ['b', 'a'] },
    call: (args) => args.list(1).map((item) => args.expression(0).apply(item)),
  },
  sort: {
    parameters: ['array[string]|array[number]'],
    returns: 'array',
    description: 'The items in ascending order.',
    example: { expression: 'sort(`[2, 1]`)', result: [1, 2] },
    call: (args) => {
      chargeSort(args.list(0));
      return args.list(0).toSorted((a, b) => orderOf(a, b) ?? 0);
    },
  },
  sort_by: {
    parameters: ['array', 'expref'],
    returns: 'array',
    description: 'The items, sorted in ascending order of an expression.',
    example: { expression: 'sort_by(@, &age)[].n', data: people, result: ['a', 'b'] },
    call: (args) => {
      chargeSort(args.list(0));
      return rank(args)
        .toSorted((a, b) => compareRanks(args, a, b, 'error in sort_by comparison'))
        .map(({ item }) => item);
    },
  },
  max_by: {
    parameters: ['array', 'expref'],
    returns: 'any',
    description: 'The item with the largest value of an expression.',
    example: { expression: 'max_by(@, &age).n', data: people, result: 'b' },
    call: (args) => best(args, 1),
  },
  min_by: {
    parameters: ['array', 'expref'],
    returns: 'any',
    description: 'The item with the smallest value of an expression.',
    example: { expression: 'min_by(@, &age).n', data: people, result: 'a' },
    call: (args) => best(args, -1),
  },
});

/** A comparison takes about two steps. */
function chargeSort(list: JsonArray): void {
  spendList(list.length * 4);
  spendSteps(Math.ceil(2 * list.length * Math.log2(list.length + 1)));
}

interface Ranked {
  readonly item: Json;
  readonly rank: Json;
}

function rank(args: Arguments): readonly Ranked[] {
  const items = args.list(0);
  if (items.length < 2) return items.map((item) => ({ item, rank: null }));
  const ranked = items.map((item) => ({ item, rank: args.expression(1).apply(item) }));
  const first = ranked[0]?.rank;
  if (!isNumber(first) && typeof first !== 'string') {
    return args.fail('invalid type, must be number of string');
  }
  return ranked;
}

function compareRanks(args: Arguments, a: Ranked, b: Ranked, complaint: string): number {
  return orderOf(a.rank, b.rank) ?? args.fail(complaint);
}

function best(args: Arguments, direction: 1 | -1): Json {
  const [first, ...others] = rank(args);
  if (first === undefined) return null;
  let winner = first;
  for (const other of others) {
    const order = compareRanks(args, other, winner, `invalid type, must be ${typeOf(first.rank)}`);
    if (order * direction > 0) winner = other;
  }
  return winner.item;
}
