import { spendSteps } from '../../json/budget.ts';
import { type Library, overload, type StructDeclaration } from '../types/environment.ts';
import { dynType, stringType, type Type } from '../types/type.ts';
import { CelError } from '../value/error.ts';
import { isList, isMap, typeNameOf } from '../value/kinds.ts';
import { mapEntries } from '../value/map.ts';
import { StructShape, StructValue, type Value, type ValueObject } from '../value/value.ts';

const jsonPatchFields: ReadonlyMap<string, Type> = new Map([
  ['op', stringType],
  ['path', stringType],
  ['from', stringType],
  ['value', dynType],
]);

const jsonPatchDefaults: ValueObject = { op: '', path: '', from: '' };

/** `JSONPatch{op: …, path: …, from: …, value: …}`. */
const jsonPatch: StructDeclaration = {
  name: 'JSONPatch',
  fieldType: (field) => jsonPatchFields.get(field),
  fieldNames: [...jsonPatchFields.keys()],
  build: (names) => {
    const shape = new StructShape('JSONPatch', names, jsonPatchDefaults);
    return (values) => {
      for (let index = 0; index < names.length; index++) {
        const value = values[index];
        if (typeof value === 'string' || value === undefined || names[index] === 'value') continue;
        throw new CelError(`unexpected type ${typeNameOf(value)} for JSONPatchType '${names[index]}' field`);
      }
      return new StructValue(shape, values);
    };
  },
};

/** `Object{…}` and `Object.spec{…}`: any field is allowed, and its type is known at run time only. */
function objectStruct(name: string): StructDeclaration | undefined {
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined;
  return {
    name,
    fieldType: () => dynType,
    build: (names) => {
      const shape = new StructShape(name, names);
      return (values) => new StructValue(shape, values);
    },
  };
}

/** The types of mutations, and `jsonpatch.escapeKey`. */
export const mutationLibrary: Library = {
  structs: [jsonPatch],
  findStruct: objectStruct,
  functions: [
    overload('jsonpatch.escapeKey', '(string) -> string', (key: string) =>
      key.replaceAll('~', '~0').replaceAll('/', '~1'),
    ),
  ],
};

/**
 * Type names have to follow the field names: the `spec` of an `Object` is an `Object.spec`, and so are the items when
 * it is a list. Returns a message for each name that does not.
 */
export function typeNameMismatches(value: StructValue): readonly string[] {
  const problems: string[] = [];
  visitFields(value, value.typeName, problems);
  return problems;
}

/** Throws CelError unless all type names in the value of a field follow the names of fields. */
export function assertTypeNames(value: Value, parent: string, field: string): void {
  const problems: string[] = [];
  visitNames(value, parent, field, problems);
  if (problems[0] !== undefined) throw typeMismatch(problems[0]);
}

/** Throws CelError unless the type of the struct itself is that of the field. */
export function assertTypeName({ typeName }: StructValue, parent: string, field: string): void {
  if (!isFieldName(typeName, parent, field)) throw typeMismatch(unexpectedName(typeName, parent, field));
}

export function typeMismatch(problem: string): CelError {
  return new CelError(`type mismatch: ${problem}`);
}

function visitFields({ names, values }: StructValue, name: string, problems: string[]): void {
  for (let index = 0; index < names.length; index++) {
    const inner = values[index];
    if (typeof inner === 'object' && inner !== null)
      visitNames(inner, name, names[index] as string, problems);
  }
}

/** The expected name is `parent.field`; it is built only for messages, because this runs for each mutation. */
function visitNames(item: Value, parent: string, field: string, problems: string[]): void {
  // Values may share parts with themselves, so that a small one stands for a huge one.
  spendSteps(4);
  if (item instanceof StructValue) {
    if (isFieldName(item.typeName, parent, field)) {
      visitFields(item, item.typeName, problems);
      return;
    }
    problems.push(unexpectedName(item.typeName, parent, field));
    visitFields(item, `${parent}.${field}`, problems);
  } else if (isList(item)) {
    for (const inner of item) visitNames(inner, parent, field, problems);
  } else if (isMap(item)) {
    for (const [, inner] of mapEntries(item)) visitNames(inner, parent, field, problems);
  }
}

function unexpectedName(name: string, parent: string, field: string): string {
  return `unexpected type name "${name}", expected "${parent}.${field}", which matches field name path from root Object type`;
}

/** Whether the name is `parent.field`. */
function isFieldName(name: string, parent: string, field: string): boolean {
  return (
    name.length === parent.length + 1 + field.length &&
    name.startsWith(parent) &&
    name.charCodeAt(parent.length) === 46 &&
    name.endsWith(field)
  );
}
