import { spendList, spendSteps } from '../../json/budget.ts';
import { type FunctionDeclaration, type Library, overload } from '../types/environment.ts';
import { add, checkedList } from '../value/arithmetic.ts';
import { compare, equals } from '../value/compare.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { type Integer, toNumber } from '../value/integer.ts';
import { isList, typeNameOf } from '../value/kinds.ts';
import { keyIdentity } from '../value/map.ts';
import { Duration, IntegralDouble, Uint, type Value } from '../value/value.ts';

type List = readonly Value[];

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

function slice(list: List, from: Integer, to: Integer): List {
  const [start, end] = [toNumber(from), toNumber(to)];
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) throw new CelError(`${call}, negative indexes not supported`);
  if (start > end) throw new CelError(`${call}, start index must be less than or equal to end index`);
  if (end > list.length) throw new CelError(`${call}, list is length ${list.length}`);
  return list.slice(start, end);
}

function flatten(list: List, depth: Integer = 1): List {
  const levels = toNumber(depth);
  if (levels < 0) throw new CelError('level must be non-negative');
  const result: Value[] = [];
  for (const item of list) {
    if (!isList(item) || levels === 0) result.push(item);
    else for (const inner of levels === 1 ? item : flatten(item, levels - 1)) result.push(inner);
  }
  spendList(result.length);
  return checkedList(result);
}

function sort(list: List): List {
  const type = list[0] === undefined ? '' : typeNameOf(list[0]);
  if (list.some((item) => typeNameOf(item) !== type))
    throw new CelError('list elements must have the same type');
  spendSteps(list.length * 4);
  return [...list].sort(compare);
}

const longestRange = 1_000_000;

function range(size: Integer): List {
  const length = toNumber(size);
  if (length > longestRange) throw new CelError(`lists.range() size exceeds ${longestRange}`);
  spendList(Math.max(length, 0));
  const list: number[] = [];
  for (let index = 0; index < length; index++) list.push(index);
  return list;
}

/** Without repeated items; the first of equal ones stays. */
function distinct(list: List): List {
  const keys = new Set<string>();
  const others: Value[] = [];
  return list.filter((item) => {
    spendSteps(1);
    const identity = Number.isNaN(item) ? undefined : keyIdentity(item);
    if (identity !== undefined) {
      if (keys.has(identity)) return false;
      keys.add(identity);
      return true;
    }
    spendSteps(others.length);
    if (others.some((other) => equals(other, item))) return false;
    others.push(item);
    return true;
  });
}

/** The lists extension of cel-go. `sortBy` is a macro. */
export const listsLibrary: Library = {
  macros: ['sortBy/2'],
  functions: [
    overload('slice', 'list(T).(int, int) -> list(T)', slice),
    overload('flatten', 'list(list(T)).() -> list(T)', flatten),
    overload('flatten', 'list(dyn).(int) -> list(dyn)', flatten),
    ...comparable.map((type) => overload('sort', `list(${type}).() -> list(${type})`, sort)),
    overload('lists.range', '(int) -> list(int)', range),
    overload('reverse', 'list(T).() -> list(T)', (list: List) => list.toReversed()),
    overload('distinct', 'list(T).() -> list(T)', distinct),
  ],
};

const zeros: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['int', 0],
  ['uint', new Uint(0n)],
  ['double', new IntegralDouble(0)],
  ['duration', new Duration(0n)],
]);

/** As in Kubernetes, values of different types keep their places. A value that has no order is an error. */
function order(a: Value, b: Value): number {
  const isMixed = typeNameOf(a) !== typeNameOf(b);
  if (!isMixed) return compare(a, b) || 0;
  compare(a, a);
  compare(b, b);
  try {
    return compare(a, b) || 0;
  } catch (error) {
    if (error instanceof CelError) return 0;
    throw error;
  }
}

function isSorted(list: List): boolean {
  return list.every((item, index) => index === 0 || order(list[index - 1] as Value, item) <= 0);
}

function extreme(name: string, sign: 1 | -1): (list: List) => Value {
  return (list) => {
    const [first, ...rest] = list;
    if (first === undefined) throw new CelError(`${name} called on empty list`);
    return rest.reduce((best, item) => (order(item, best) * sign > 0 ? item : best), first);
  };
}

function sums(): FunctionDeclaration[] {
  return Array.from(zeros, ([type, zero]) =>
    overload('sum', `list(${type}).() -> ${type}`, (list: List) =>
      list.reduce((total, item) => (list.length === 1 ? item : add(total, item)), sumStart(list, zero)),
    ),
  );
}

/** An empty list of unknown type sums up to an int. */
function sumStart(list: List, zero: Value): Value {
  const [first] = list;
  if (first === undefined) return zero;
  const start = zeros.get(typeNameOf(first) === 'google.protobuf.Duration' ? 'duration' : typeNameOf(first));
  if (start === undefined) throw noSuchOverload([list]);
  return start;
}

/** Kubernetes' own list functions. */
export const kubernetesListsLibrary: Library = {
  functions: [
    ...comparable.map((type) => overload('isSorted', `list(${type}).() -> bool`, isSorted)),
    ...sums(),
    ...comparable.map((type) => overload('max', `list(${type}).() -> ${type}`, extreme('max', 1))),
    ...comparable.map((type) => overload('min', `list(${type}).() -> ${type}`, extreme('min', -1))),
    overload('indexOf', 'list(A).(A) -> int', (list: List, item: Value) =>
      list.findIndex((element) => equals(element, item)),
    ),
    overload('lastIndexOf', 'list(A).(A) -> int', (list: List, item: Value) =>
      list.findLastIndex((element) => equals(element, item)),
    ),
  ],
};

function includes(list: List, item: Value): boolean {
  return list.some((element) => equals(element, item));
}

function isSubset(list: List, items: List): boolean {
  return items.every((item) => {
    spendSteps(list.length);
    return includes(list, item);
  });
}

/** Every pair of items may have to be compared, which costs steps. */
export const setsLibrary: Library = {
  functions: [
    overload('sets.contains', '(list(T), list(T)) -> bool', isSubset),
    overload(
      'sets.equivalent',
      '(list(T), list(T)) -> bool',
      (a: List, b: List) => isSubset(a, b) && isSubset(b, a),
    ),
    overload('sets.intersects', '(list(T), list(T)) -> bool', (a: List, b: List) =>
      a.some((item) => {
        spendSteps(b.length);
        return includes(b, item);
      }),
    ),
  ],
};
