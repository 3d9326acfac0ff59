import type { ListNode, MapNode, Node, StructNode } from '../syntax/ast.ts';
import type { StructDeclaration } from '../types/environment.ts';
import { CelError } from '../value/error.ts';
import { isInteger } from '../value/integer.ts';
import { keyIdentity, mapOf, setField } from '../value/map.ts';
import { formatValue } from '../value/text.ts';
import { Optional, Uint, type Value } from '../value/value.ts';
import { locateErrors } from './call.ts';
import type { Closure } from './closure.ts';

/** The string that the node stands for, if it is a string literal. */
export function literalString(node: Node | undefined): string | undefined {
  return node?.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;
}

export function compileList(node: ListNode, compile: (child: Node) => Closure): Closure {
  const elements = node.elements.map(({ value, optional }) => ({ element: compile(value), optional }));
  if (!elements.some(({ optional }) => optional)) {
    const closures = elements.map(({ element }) => element);
    return (frame) => closures.map((element) => element(frame));
  }
  return locateErrors((frame) => {
    const list: Value[] = [];
    for (const { element, optional } of elements) {
      const value = optional ? unwrapOptional(element(frame)) : element(frame);
      if (value !== undefined) list.push(value);
    }
    return list;
  }, node.offset);
}

/** The value of a `?` entry; undefined when the entry is left out. */
function unwrapOptional(value: Value): Value | undefined {
  if (value instanceof Optional) return value.value;
  throw new CelError(`cannot initialize optional entry from a value that is not optional`);
}

export function compileMap(node: MapNode, compile: (child: Node) => Closure): Closure {
  const entries = node.entries.map(({ key, value, optional }) => ({
    key: compile(key),
    value: compile(value),
    optional,
  }));
  const names = node.entries.map(({ key }) => literalString(key));
  if (names.every((name) => name !== undefined) && new Set(names).size === names.length) {
    return locateErrors((frame) => {
      const object: Record<string, Value> = {};
      for (let index = 0; index < entries.length; index++) {
        const { value, optional } = entries[index] as (typeof entries)[number];
        const item = optional ? unwrapOptional(value(frame)) : value(frame);
        if (item !== undefined) setField(object, names[index] as string, item);
      }
      return object;
    }, node.offset);
  }
  return locateErrors((frame) => {
    const map = new Map<string, readonly [Value, Value]>();
    for (const { key, value, optional } of entries) {
      const name = key(frame);
      const isKey =
        typeof name === 'string' || typeof name === 'boolean' || isInteger(name) || name instanceof Uint;
      if (!isKey) throw new CelError('unsupported key type');
      const identity = keyIdentity(name) as string;
      if (map.has(identity)) throw new CelError(`Failed with repeated key: ${formatValue(name)}`);
      const item = optional ? unwrapOptional(value(frame)) : value(frame);
      if (item !== undefined) map.set(identity, [name, item]);
    }
    return mapOf(map);
  }, node.offset);
}

/** `T{…}`. The checker refuses types that cannot be built. */
export function compileStruct(
  node: StructNode,
  struct: StructDeclaration,
  compile: (child: Node) => Closure,
): Closure {
  const build = struct.build as NonNullable<StructDeclaration['build']>;
  const fields = node.fields.map(({ name, value, optional }) => ({ name, value: compile(value), optional }));
  return locateErrors((frame) => {
    const object: Record<string, Value> = {};
    for (const { name, value, optional } of fields) {
      const item = optional ? unwrapOptional(value(frame)) : value(frame);
      if (item !== undefined) setField(object, name, item);
    }
    return build(object);
  }, node.offset);
}
