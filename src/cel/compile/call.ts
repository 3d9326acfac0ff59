import { spendSteps } from '../../json/budget.ts';
import type { Effects, Overload } from '../types/environment.ts';
import type { Type } from '../types/type.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { isInteger } from '../value/integer.ts';
import { isDouble, isList, isMap, typeNameOf } from '../value/kinds.ts';
import { mapEntries } from '../value/map.ts';
import { Bytes, Optional, TypeValue, type Value } from '../value/value.ts';
import type { Closure } from './closure.ts';

type Matcher = (value: Value) => boolean;

/** Whether a value fits a declared type at run time; undefined when every value does. */
function matcherOf(type: Type): Matcher | undefined {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'parameter':
    case 'error':
      return undefined;
    case 'null':
      return (value) => value === null;
    case 'bool':
      return (value) => typeof value === 'boolean';
    case 'string':
      return (value) => typeof value === 'string';
    case 'int':
      return isInteger;
    case 'double':
      return isDouble;
    case 'type':
      return (value) => value instanceof TypeValue;
    case 'list': {
      // As in cel-go, `list(list(T))` also takes a list of other items when types are known at run time only.
      const [item] = type.parameters as readonly [Type];
      const element = hasParameter(item) ? undefined : matcherOf(item);
      if (element === undefined) return isList;
      return (value) => isList(value) && (value.length === 0 || element(value[0] as Value));
    }
    case 'map':
      return mapMatcher(type);
    default: {
      if (type.name === 'optional_type') return (value) => value instanceof Optional;
      return (value) => typeNameOf(value) === type.name;
    }
  }
}

function mapMatcher(type: Type): Matcher {
  const [key, value] = type.parameters.map(matcherOf);
  if (key === undefined && value === undefined) return isMap;
  return (map) => {
    if (!isMap(map)) return false;
    const [first] = mapEntries(map);
    if (first === undefined) return true;
    return (key?.(first[0]) ?? true) && (value?.(first[1]) ?? true);
  };
}

function hasParameter(type: Type): boolean {
  return type.kind === 'parameter' || type.parameters.some(hasParameter);
}

type Call = (...args: readonly Value[]) => Value;
type EffectCall = (effects: Effects, ...args: readonly Value[]) => Value;

interface Candidate {
  readonly overload: Overload;
  /**
   * By argument; undefined where every value fits. Static types do not replace them: data from outside may not have
   * the declared type.
   */
  readonly guards: readonly (Matcher | undefined)[];
}

/** A function may walk over its arguments. What it builds or compares beyond that, it charges itself. */
function chargeCall(value: Value): void {
  if (typeof value === 'string') spendSteps(1 + (value.length >> 5));
  else if (isList(value)) spendSteps(1 + (value.length >> 4));
  else spendSteps(1 + (value instanceof Bytes ? value.data.length >> 5 : 0));
}

function fits(guards: readonly (Matcher | undefined)[], values: readonly Value[]): boolean {
  for (let index = 0; index < guards.length; index++) {
    if (guards[index]?.(values[index] as Value) === false) return false;
  }
  return true;
}

/** Calls the first of the overloads that fits the arguments at run time. */
export function compileOverloads(
  overloads: readonly Overload[],
  args: readonly Closure[],
  offset: number,
): Closure {
  const candidates = overloads.map((overload) => ({ overload, guards: overload.parameters.map(matcherOf) }));
  const [only] = candidates;
  const [first] = args;
  const isPure = candidates.every(({ overload }) => !overload.effects);
  if (isPure && candidates.length > 1 && first !== undefined && args.length === 1)
    return compileUnary(candidates, first, offset);
  const single =
    isPure && candidates.length === 1 && only !== undefined ? compileSingle(only, args, offset) : undefined;
  return single ?? compileDispatch(candidates, args, offset);
}

function compileDispatch(
  candidates: readonly Candidate[],
  args: readonly Closure[],
  offset: number,
): Closure {
  return (frame) => {
    const values = args.map((arg) => arg(frame));
    values.forEach(chargeCall);
    for (const { overload, guards } of candidates) {
      if (!fits(guards, values)) continue;
      try {
        return overload.effects
          ? (overload.call as EffectCall)(frame.effects, ...values)
          : (overload.call as Call)(...values);
      } catch (error) {
        throw located(error, offset);
      }
    }
    throw noSuchOverload(values, offset);
  };
}

/** One overload with one or two arguments, the common case, needs no list of arguments. */
function compileSingle(
  { overload, guards }: Candidate,
  args: readonly Closure[],
  offset: number,
): Closure | undefined {
  const call = overload.call as Call;
  const [first, second, third] = args;
  const [firstFits, secondFits] = guards;
  if (first === undefined || third !== undefined) return undefined;
  if (second === undefined) {
    return (frame) => {
      const value = first(frame);
      if (firstFits?.(value) === false) throw noSuchOverload([value], offset);
      chargeCall(value);
      try {
        return call(value);
      } catch (error) {
        throw located(error, offset);
      }
    };
  }
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    if (firstFits?.(a) === false || secondFits?.(b) === false) throw noSuchOverload([a, b], offset);
    chargeCall(a);
    chargeCall(b);
    try {
      return call(a, b);
    } catch (error) {
      throw located(error, offset);
    }
  };
}

/** One argument, and overloads that only differ in its type. */
function compileUnary(candidates: readonly Candidate[], arg: Closure, offset: number): Closure {
  return (frame) => {
    const value = arg(frame);
    chargeCall(value);
    for (let index = 0; index < candidates.length; index++) {
      const { overload, guards } = candidates[index] as Candidate;
      if (guards[0]?.(value) === false) continue;
      try {
        return (overload.call as Call)(value);
      } catch (error) {
        throw located(error, offset);
      }
    }
    throw noSuchOverload([value], offset);
  };
}

/** The error with this position, unless it has one. */
export function located(error: unknown, offset: number): unknown {
  if (error instanceof CelError) error.offset ??= offset;
  return error;
}

/** Errors that have no position yet get this one. */
export function locateErrors(closure: Closure, offset: number): Closure {
  return (frame) => {
    try {
      return closure(frame);
    } catch (error) {
      throw located(error, offset);
    }
  };
}
