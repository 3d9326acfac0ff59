import { optionalMacros } from '../syntax/macros.ts';
import { type Library, overload } from '../types/environment.ts';
import { dynType, optionalType } from '../types/type.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { isList, isMap } from '../value/kinds.ts';
import { mapSize } from '../value/map.ts';
import {
  Bytes,
  Duration,
  IntegralDouble,
  Optional,
  StructValue,
  Timestamp,
  Uint,
  type Value,
} from '../value/value.ts';

/** Year 1 is Go's zero time. */
const zeroTime = -62_135_596_800_000_000_000n;

function isZeroValue(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (isList(value)) return value.length === 0;
  if (isMap(value)) return mapSize(value) === 0;
  if (value instanceof IntegralDouble) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Bytes) return value.data.length === 0;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Timestamp) return value.nanoseconds === zeroTime;
  return value instanceof StructValue && value.values.every((item) => item === undefined);
}

function getValue(optional: Optional): Value {
  if (optional.value === undefined) throw new CelError('optional.none() dereference');
  return optional.value;
}

function unwrap(list: readonly Value[]): readonly Value[] {
  const result: Value[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) throw new CelError('a value of the list is not optional');
    if (item.value !== undefined) result.push(item.value);
  }
  return result;
}

/** `or`, `orValue`, `_[_]` and `_[?_]` are evaluated by the compiler. */
const unevaluated = (): Value => {
  throw noSuchOverload([]);
};

const optionalOf = (value: Value | undefined): Optional =>
  value === undefined ? Optional.none : new Optional(value);

export const optionalLibrary: Library = {
  macros: optionalMacros,
  types: [optionalType(dynType)],
  functions: [
    overload('optional.of', '(V) -> optional(V)', (value: Value) => new Optional(value)),
    overload('optional.ofNonZeroValue', '(V) -> optional(V)', (value: Value) =>
      isZeroValue(value) ? Optional.none : new Optional(value),
    ),
    overload('optional.none', '() -> optional(V)', () => Optional.none),
    overload('value', 'optional(V).() -> V', getValue),
    overload('hasValue', 'optional(V).() -> bool', (optional: Optional) => optional.value !== undefined),
    overload('or', 'optional(V).(optional(V)) -> optional(V)', unevaluated),
    overload('orValue', 'optional(V).(V) -> V', unevaluated),
    overload('_[?_]', '(list(V), int) -> optional(V)', unevaluated),
    overload('_[?_]', '(optional(list(V)), int) -> optional(V)', unevaluated),
    overload('_[?_]', '(map(K, V), K) -> optional(V)', unevaluated),
    overload('_[?_]', '(optional(map(K, V)), K) -> optional(V)', unevaluated),
    overload('_[_]', '(optional(list(V)), int) -> optional(V)', unevaluated),
    overload('_[_]', '(optional(map(K, V)), K) -> optional(V)', unevaluated),
    overload('first', 'list(V).() -> optional(V)', (list: readonly Value[]) => optionalOf(list[0])),
    overload('last', 'list(V).() -> optional(V)', (list: readonly Value[]) => optionalOf(list.at(-1))),
    overload('optional.unwrap', '(list(optional(V))) -> list(V)', unwrap),
    overload('unwrapOpt', 'list(optional(V)).() -> list(V)', unwrap),
  ],
};

/** In Kyverno, the target of `orValue` may have any type. */
export const lenientOptionalLibrary: Library = {
  functions: [overload('orValue', 'dyn.(dyn) -> dyn', unevaluated)],
};
