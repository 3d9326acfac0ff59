import { spendList, spendSteps } from '../../json/budget.ts';
import type { ComprehensionNode, Node, OptMapNode } from '../syntax/ast.ts';
import { compare } from '../value/compare.ts';
import { CelError, noSuchOverload } from '../value/error.ts';
import { isList, isMap, typeNameOf } from '../value/kinds.ts';
import { keyIdentity, mapEntries, mapKeys, mapOf } from '../value/map.ts';
import { formatValue } from '../value/text.ts';
import { Optional, type Value } from '../value/value.ts';
import { type Closure, type CompileContext, type Frame, withSlots } from './closure.ts';

type Compile = (node: Node) => Closure;

interface Loop {
  readonly range: Closure;
  readonly condition: Closure | undefined;
  readonly body: Closure;
  readonly first: number;
  /** Undefined for one variable. */
  readonly second: number | undefined;
}

export function compileComprehension(
  node: ComprehensionNode,
  context: CompileContext,
  compile: Compile,
): Closure {
  const range = compile(node.range);
  return withSlots(context, node.variables, ([first = 0, second]) => {
    const condition = node.condition === undefined ? undefined : compile(node.condition);
    const loop: Loop = { range, condition, body: compile(node.body), first, second };
    return builders[node.macro](loop);
  });
}

/** Keys and values to go through. Without keys, the first of two variables is the index. */
interface Items {
  readonly keys: readonly Value[] | undefined;
  readonly values: readonly Value[];
}

function open(loop: Loop, frame: Frame): Items {
  const range = loop.range(frame);
  let items: Items;
  if (isList(range)) items = { keys: undefined, values: range };
  else if (!isMap(range)) throw noSuchOverload([range]);
  else if (loop.second === undefined) items = { keys: undefined, values: mapKeys(range) };
  else {
    const entries = mapEntries(range);
    items = { keys: entries.map(([key]) => key), values: entries.map(([, value]) => value) };
  }
  return items;
}

/** Every round costs a step, so that a budget with a deadline ends long loops. */
function assign(loop: Loop, frame: Frame, items: Items, index: number): void {
  spendSteps(1);
  const value = items.values[index] as Value;
  if (loop.second === undefined) {
    frame.locals[loop.first] = value;
    return;
  }
  frame.locals[loop.first] = items.keys === undefined ? index : (items.keys[index] as Value);
  frame.locals[loop.second] = value;
}

/** `all` stops at false, `exists` at true. Errors count only if nothing decides. */
function quantifier(decisive: boolean): (loop: Loop) => Closure {
  return (loop) => (frame) => {
    const items = open(loop, frame);
    let failure: unknown;
    for (let index = 0; index < items.values.length; index++) {
      assign(loop, frame, items, index);
      try {
        const value = loop.body(frame);
        if (value === decisive) return decisive;
        if (value !== !decisive) failure ??= noSuchOverload([value]);
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

function existsOne(loop: Loop): Closure {
  return (frame) => {
    let count = 0;
    forEach(loop, frame, () => {
      if (isTrue(loop.body(frame))) count++;
    });
    return count === 1;
  };
}

function isTrue(value: Value): boolean {
  if (typeof value !== 'boolean') throw noSuchOverload([value]);
  return value;
}

/** Assigns the item to the variables. Whether the condition holds for it. */
function isVisited(loop: Loop, frame: Frame, items: Items, index: number): boolean {
  assign(loop, frame, items, index);
  return loop.condition === undefined || isTrue(loop.condition(frame));
}

/** Goes through the items for which the condition holds. */
function forEach(loop: Loop, frame: Frame, visit: (key: Value, value: Value) => void): void {
  const items = open(loop, frame);
  for (let index = 0; index < items.values.length; index++) {
    if (!isVisited(loop, frame, items, index)) continue;
    visit(items.keys === undefined ? index : (items.keys[index] as Value), items.values[index] as Value);
  }
}

function collect(loop: Loop): Closure {
  return (frame) => {
    const items = open(loop, frame);
    const result = loop.condition === undefined ? mapAll(loop, frame, items) : mapVisited(loop, frame, items);
    spendList(result.length);
    return result;
  };
}

/** A list of the final length takes less memory than one that grows. */
function mapAll(loop: Loop, frame: Frame, items: Items): readonly Value[] {
  return items.values.map((_value, index) => {
    assign(loop, frame, items, index);
    return loop.body(frame);
  });
}

function mapVisited(loop: Loop, frame: Frame, items: Items): readonly Value[] {
  const result: Value[] = [];
  for (let index = 0; index < items.values.length; index++) {
    if (isVisited(loop, frame, items, index)) result.push(loop.body(frame));
  }
  return result;
}

function filter(loop: Loop): Closure {
  return (frame) => {
    const items = open(loop, frame);
    const result: Value[] = [];
    for (let index = 0; index < items.values.length; index++) {
      if (isVisited(loop, frame, items, index) && isTrue(loop.body(frame)))
        result.push(items.values[index] as Value);
    }
    return result;
  };
}

function transformMap(loop: Loop): Closure {
  return (frame) => {
    const entries = new Map<string, readonly [Value, Value]>();
    forEach(loop, frame, (key) => {
      entries.set(keyIdentity(key) ?? '', [key, loop.body(frame)]);
    });
    return mapOf(entries);
  };
}

function transformMapEntry(loop: Loop): Closure {
  return (frame) => {
    const entries = new Map<string, readonly [Value, Value]>();
    forEach(loop, frame, () => {
      const map = loop.body(frame);
      if (!isMap(map)) throw noSuchOverload([map]);
      for (const entry of mapEntries(map)) {
        const identity = keyIdentity(entry[0]) ?? '';
        if (entries.has(identity)) {
          throw new CelError(`insert failed: key ${formatValue(entry[0])} already exists`);
        }
        entries.set(identity, entry);
      }
    });
    return mapOf(entries);
  };
}

function sortBy(loop: Loop): Closure {
  return (frame) => {
    const pairs: { readonly key: Value; readonly value: Value }[] = [];
    const range = loop.range(frame);
    if (!isList(range)) throw noSuchOverload([range]);
    forEach({ ...loop, range: () => range }, frame, (_index, value) => {
      pairs.push({ key: loop.body(frame), value });
    });
    const type = pairs[0] === undefined ? '' : typeNameOf(pairs[0].key);
    if (pairs.some(({ key }) => typeNameOf(key) !== type))
      throw new CelError('list elements must have the same type');
    spendSteps(pairs.length * 4);
    return pairs.sort((a, b) => compare(a.key, b.key)).map(({ value }) => value);
  };
}

const builders: Readonly<Record<ComprehensionNode['macro'], (loop: Loop) => Closure>> = {
  all: quantifier(false),
  exists: quantifier(true),
  existsOne,
  map: collect,
  filter,
  transformList: collect,
  transformMap,
  transformMapEntry,
  sortBy,
};

export function compileOptMap(node: OptMapNode, context: CompileContext, compile: Compile): Closure {
  const target = compile(node.target);
  return withSlots(context, [node.variable], ([slot = 0]) => {
    const body = compile(node.body);
    return (frame) => {
      const optional = target(frame);
      if (!(optional instanceof Optional)) throw noSuchOverload([optional], node.offset);
      if (optional.value === undefined) return Optional.none;
      frame.locals[slot] = optional.value;
      const result = body(frame);
      return node.flat ? result : new Optional(result);
    };
  });
}
