export type TypeKind =
  | 'dyn'
  | 'any'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'type'
  | 'parameter'
  | 'opaque'
  | 'struct';

export interface Type {
  readonly kind: TypeKind;
  /** The name at run time, without parameters; of a type parameter its own name. */
  readonly name: string;
  readonly parameters: readonly Type[];
  /** Set for protobuf's wrapper types, which may be null. */
  readonly nullable?: boolean | undefined;
}

function simple(kind: TypeKind, name: string = kind): Type {
  return { kind, name, parameters: [] };
}

export const dynType = simple('dyn');
export const anyType = simple('any');
export const errorType = simple('error', '!error!');
export const nullType = simple('null', 'null_type');
export const boolType = simple('bool');
export const intType = simple('int');
export const uintType = simple('uint');
export const doubleType = simple('double');
export const stringType = simple('string');
export const bytesType = simple('bytes');
export const timestampType = simple('timestamp', 'google.protobuf.Timestamp');
export const durationType = simple('duration', 'google.protobuf.Duration');

export function listType(element: Type): Type {
  return { kind: 'list', name: 'list', parameters: [element] };
}

export function mapType(key: Type, value: Type): Type {
  return { kind: 'map', name: 'map', parameters: [key, value] };
}

export function typeType(parameter?: Type): Type {
  return { kind: 'type', name: 'type', parameters: parameter === undefined ? [] : [parameter] };
}

export function opaqueType(name: string, ...parameters: readonly Type[]): Type {
  return { kind: 'opaque', name, parameters };
}

export function optionalType(value: Type): Type {
  return opaqueType('optional_type', value);
}

export function structType(name: string): Type {
  return simple('struct', name);
}

export function parameterType(name: string): Type {
  return simple('parameter', name);
}

export function isDyn(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

export function isDynOrError(type: Type): boolean {
  return isDyn(type) || type.kind === 'error';
}

/** The type inside an optional; undefined when the type is no optional. */
export function optionalValue(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type'
    ? (type.parameters[0] ?? dynType)
    : undefined;
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, index) => sameType(parameter, b.parameters[index] as Type));
}

const messageNames: Readonly<Partial<Record<TypeKind, string>>> = {
  null: 'null',
  timestamp: 'timestamp',
  duration: 'duration',
};

/** The name of a type in messages: `list(int)`, `timestamp`. */
export function formatType(type: Type): string {
  return format(type, (leaf) => messageNames[leaf.kind] ?? leaf.name);
}

/** The full name of a type: `list(int)`, `google.protobuf.Timestamp`. */
export function typeName(type: Type): string {
  return format(type, (leaf) => leaf.name);
}

function format(type: Type, leafName: (leaf: Type) => string): string {
  if (type.parameters.length > 0) {
    return `${type.name}(${type.parameters.map((parameter) => format(parameter, leafName)).join(', ')})`;
  }
  return type.nullable === true ? `wrapper(${leafName(type)})` : leafName(type);
}
