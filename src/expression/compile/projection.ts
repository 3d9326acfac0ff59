import { spendBytes, spendList, spendSteps } from '../../json/budget.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import { CallError, type Closure, isFalse } from './closure.ts';

/** `left[*].right`, also after a flatten or a slice. Null results are dropped. */
export function compileProjection(left: Closure, right: Closure, weight: number): Closure {
  return (current, scope) => {
    const list = left(current, scope);
    if (!isArray(list)) return null;
    const collected: Json[] = [];
    spendBytes(list.length << 3);
    for (const item of list) {
      spendSteps(weight);
      const value = right(item, scope);
      if (value !== undefined && value !== null) collected.push(value);
    }
    return collected;
  };
}

/** `left.*.right` */
export function compileValueProjection(left: Closure, right: Closure, weight: number): Closure {
  const lenientLeft = nullOnFailure(left);
  const project = compileProjection((current) => current, right, weight);
  return (current, scope) => {
    const object = lenientLeft(current, scope);
    return isObject(object) ? project(Object.values(object), scope) : null;
  };
}

/** `left[?condition].right` */
export function compileFilter(left: Closure, condition: Closure, right: Closure, weight: number): Closure {
  const lenientLeft = nullOnFailure(left);
  return (current, scope) => {
    const list = lenientLeft(current, scope);
    if (!isArray(list)) return null;
    const collected: Json[] = [];
    for (const item of list) {
      spendSteps(weight);
      if (isFalse(condition(item, scope))) continue;
      const value = right(item, scope);
      if (value !== undefined && value !== null) collected.push(value);
    }
    return collected;
  };
}

/** `left[]`: flattens one level of nested lists. */
export function compileFlatten(left: Closure): Closure {
  const lenientLeft = nullOnFailure(left);
  return (current, scope) => {
    const list = lenientLeft(current, scope);
    if (!isArray(list)) return null;
    const flattened: Json[] = [];
    for (const item of list) {
      spendList(isArray(item) ? item.length : 1);
      if (isArray(item)) for (const inner of item) flattened.push(inner);
      else flattened.push(item);
    }
    return flattened;
  };
}

/** `left[start:stop:step]` */
export function compileSlice(
  left: Closure,
  [start, stop, step = 1]: readonly (number | undefined)[],
): Closure {
  return (current, scope) => {
    const list = left(current, scope);
    if (!isArray(list)) return null;
    const from = start === undefined ? (step < 0 ? list.length - 1 : 0) : bound(start, list.length, step);
    const to = stop === undefined ? (step < 0 ? -1 : list.length) : bound(stop, list.length, step);
    spendList(list.length);
    const taken: Json[] = [];
    for (let index = from; step > 0 ? index < to : index > to; index += step) taken.push(list[index] as Json);
    return taken;
  };
}

function bound(position: number, length: number, step: number): number {
  const fromStart = position < 0 ? position + length : position;
  if (fromStart < 0) return step < 0 ? -1 : 0;
  if (fromStart >= length) return step < 0 ? length - 1 : length;
  return fromStart;
}

/** As in Kyverno, a function that fails on the left of `[]`, `[?…]` or `.*` makes the result null, not an error. */
function nullOnFailure(left: Closure): Closure {
  return (current, scope) => {
    try {
      return left(current, scope);
    } catch (error) {
      if (error instanceof CallError) return null;
      throw error;
    }
  };
}
