import { formatPointer } from '../../json/pointer.ts';
import { isFieldName, quote } from '../expression/cel-text.ts';

/** A part of a JSON pointer: a constant token, or an expression that gives one. */
type PointerPart = string | { readonly expression: string };

/** A field of the object that a mutation reads and writes. */
export interface Place {
  /** Reads the value. Fails if it is absent. */
  readonly read: string;
  /** Reads the value as an optional; absent parents and null parents give none. */
  readonly optional: string;
  /** True if the value is there in every object. */
  readonly isSure: boolean;
  readonly pointer: readonly PointerPart[];
  /** Tests that the key is there, also with null. */
  readonly present: string;
}

export function rootPlace(object: string): Place {
  return { read: object, optional: object, isSure: true, pointer: [], present: 'true' };
}

/** Every object has metadata. The API server does not accept names in back-quotes. */
export function fieldOf(parent: Place, key: string): Place {
  const isMetadata = parent.pointer.length === 0 && parent.isSure && key === 'metadata';
  const base = parent.isSure ? parent.read : parent.optional;
  const pointer = [...parent.pointer, key];
  if (!isFieldName(key)) {
    const optional = `${base}[?${quote(key)}]`;
    return {
      read: `${parent.read}[${quote(key)}]`,
      optional,
      isSure: false,
      pointer,
      present: `${optional}.hasValue()`,
    };
  }
  const read = `${parent.read}.${key}`;
  const optional = `${base}.?${key}`;
  const present = parent.isSure ? `has(${read})` : `${optional}.hasValue()`;
  return { read, optional, isSure: isMetadata, pointer, present: isMetadata ? 'true' : present };
}

/** A key that an expression gives. */
export function dynamicFieldOf(parent: Place, key: string): Place {
  const optional = `${parent.isSure ? parent.read : parent.optional}[?${key}]`;
  return {
    read: `${parent.read}[${key}]`,
    optional,
    isSure: false,
    pointer: [...parent.pointer, { expression: `jsonpatch.escapeKey(${key})` }],
    present: `${optional}.hasValue()`,
  };
}

/** An item by a constant index. A list that is null has no items. */
export function indexOf(list: Place, index: string): Place {
  const optional = `(${listAt(list)})[?${index}]`;
  return {
    read: `${list.read}[${index}]`,
    optional,
    isSure: false,
    pointer: [...list.pointer, index],
    present: `${optional}.hasValue()`,
  };
}

/** An item or member that an expression selects. Its value becomes part of the pointer as it is. */
export function selectedBy(parent: Place, token: string): Place {
  const index = /^string\((\w*[iI]ndex)\)$/.exec(token)?.[1];
  const key = index ?? /^string\((.+)\)$/.exec(token)?.[1] ?? token;
  const base = parent.isSure ? parent.read : parent.optional;
  const optional = `${index === undefined || parent.isSure ? base : `(${listAt(parent)})`}[?${key}]`;
  return {
    read: `${parent.read}[${key}]`,
    optional,
    isSure: false,
    pointer: [...parent.pointer, { expression: token }],
    present: `${optional}.hasValue()`,
  };
}

/** An item of a list inside a comprehension with the variables `index` and `item`. */
export function itemOf(list: Place, index: string, item: string): Place {
  return {
    read: item,
    optional: item,
    isSure: true,
    pointer: [...list.pointer, { expression: `string(${index})` }],
    present: 'true',
  };
}

/** True where the value is absent or null: a merge treats both alike. */
export function isMissing(place: Place): string {
  return `${place.optional}.orValue(null) == null`;
}

/** True where the value is neither absent nor null. */
export function isFilled(place: Place): string {
  return `${place.optional}.orValue(null) != null`;
}

/** The list, or an empty one. */
export function listAt(place: Place): string {
  return `${isMissing(place)} ? [] : ${place.read}`;
}

/** The JSON pointer as an expression. */
export function pointerText(pointer: readonly PointerPart[], ...more: readonly string[]): string {
  const parts: string[] = [];
  let constant = '';
  for (const part of [...pointer, ...more]) {
    if (typeof part === 'string') {
      constant += formatPointer([part]);
      continue;
    }
    parts.push(quote(`${constant}/`), part.expression);
    constant = '';
  }
  if (constant !== '' || parts.length === 0) parts.push(quote(constant));
  return parts.join(' + ');
}
