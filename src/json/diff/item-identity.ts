import { isObject, type Json, member } from '../value.ts';

/**
 * Identifies a list item whose content changed: its `name`, else its first scalar
 * member. Undefined for lists, scalars and objects without scalars.
 */
export function identityOf(item: Json): string | undefined {
  if (!isObject(item)) return undefined;
  const name = member(item, 'name');
  if (isScalar(name)) return text('name', name);
  for (const key of Object.keys(item)) {
    const value = item[key];
    if (isScalar(value)) return text(key, value);
  }
  return undefined;
}

/** Whether two items have the same identity. Most have a name, which is compared without building a text. */
export function haveSameIdentity(a: Json, b: Json): boolean {
  if (isObject(a) && isObject(b)) {
    const name = member(a, 'name');
    if (isScalar(name) && name === member(b, 'name')) return true;
  }
  const identity = identityOf(a);
  return identity !== undefined && identity === identityOf(b);
}

type Scalar = string | number | bigint | boolean;

function isScalar(value: Json | undefined): value is Scalar {
  return value !== undefined && value !== null && typeof value !== 'object';
}

function text(key: string, value: Scalar): string {
  return `${key}\n${typeof value}\n${value}`;
}
