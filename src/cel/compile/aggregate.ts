import type { ListNode, MapNode, Node, StructNode } from '../syntax/ast.ts';
import type { StructDeclaration } from '../types/environment.ts';
import { CelError } from '../value/error.ts';
import { keyIdentity, mapOf, setField } from '../value/map.ts';
import { RepeatedObject } from '../value/repeated.ts';
import { Optional, type Value } from '../value/value.ts';
import { located, locateErrors } from './call.ts';
import { type Closure, type CompileContext, type Frame, foldParts } from './closure.ts';

/** The string that the node stands for, if it is a string literal. */
export function literalString(node: Node | undefined): string | undefined {
  return node?.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;
}

export function compileList(
  node: ListNode,
  context: CompileContext,
  compile: (child: Node) => Closure,
): Closure {
  const closures = node.elements.map(({ value }) => compile(value));
  const optional = node.elements.map((element) => element.optional);
  if (!optional.includes(true)) {
    const all = (frame: Frame): Value => closures.map((element) => element(frame));
    return foldParts(all, closures, context);
  }
  const closure = (frame: Frame): Value => {
    const list: Value[] = [];
    for (let index = 0; index < closures.length; index++) {
      const value = (closures[index] as Closure)(frame);
      if (optional[index] !== true) list.push(value);
      else if (value instanceof Optional) {
        if (value.value !== undefined) list.push(value.value);
      } else throw notOptional(node.offset);
    }
    return list;
  };
  return foldParts(closure, closures, context);
}

function notOptional(offset: number): CelError {
  return new CelError('cannot initialize optional entry from a value that is not optional', offset);
}

/** The value of a `?` entry; undefined when the entry is left out. */
function unwrapOptional(value: Value, offset: number): Value | undefined {
  if (value instanceof Optional) return value.value;
  throw notOptional(offset);
}

export function compileMap(
  node: MapNode,
  context: CompileContext,
  compile: (child: Node) => Closure,
): Closure {
  const { offset } = node;
  const entries = node.entries.map(({ key, value, optional }) => ({
    key: compile(key),
    value: compile(value),
    optional,
  }));
  const names = node.entries.map(({ key }) => literalString(key));
  if (names.every((name) => name !== undefined) && new Set(names).size === names.length) {
    const objects = new RepeatedObject((members) => {
      const object: Record<string, Value> = {};
      for (let index = 0; index < members.length; index++) {
        const item = members[index];
        if (item !== undefined) setField(object, names[index] as string, item);
      }
      return object;
    });
    const closure = (frame: Frame): Value =>
      objects.with(
        entries.map(({ value, optional }) =>
          optional ? unwrapOptional(value(frame), offset) : value(frame),
        ),
      );
    const values = entries.map(({ value }) => value);
    return foldParts(closure, values, context);
  }
  return locateErrors((frame) => {
    const map = new Map<string, readonly [Value, Value]>();
    for (const { key, value, optional } of entries) {
      const name = key(frame);
      const identity = keyIdentity(name);
      if (identity === undefined) throw new CelError('unsupported key type');
      const item = optional ? unwrapOptional(value(frame), offset) : value(frame);
      // The last of equal keys counts, also when it is left out.
      if (item === undefined) map.delete(identity);
      else map.set(identity, [name, item]);
    }
    return mapOf(map);
  }, offset);
}

/** `T{…}`. The checker refuses types that cannot be built. */
export function compileStruct(
  node: StructNode,
  struct: StructDeclaration,
  context: CompileContext,
  compile: (child: Node) => Closure,
): Closure {
  const { offset } = node;
  const names = [...new Set(node.fields.map(({ name }) => name))];
  const build = (struct.build as NonNullable<StructDeclaration['build']>)(names);
  const fields = node.fields.map(({ name, value, optional }) => ({
    index: names.indexOf(name),
    value: compile(value),
    optional,
  }));
  // A copy takes less time than a filled list, and less room than a list that grows.
  const unset: readonly (Value | undefined)[] = names.map(() => undefined);
  const closure = (frame: Frame): Value => {
    const values = unset.slice();
    for (let at = 0; at < fields.length; at++) {
      const { index, value, optional } = fields[at] as (typeof fields)[number];
      const item = optional ? unwrapOptional(value(frame), offset) : value(frame);
      if (item !== undefined) values[index] = item;
    }
    try {
      return build(values);
    } catch (error) {
      throw located(error, offset);
    }
  };
  const parts = fields.map(({ value }) => value);
  return foldParts(closure, parts, context);
}
