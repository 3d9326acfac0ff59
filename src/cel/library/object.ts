import { spendSteps } from '../../json/budget.ts';
import { type Library, overload, type StructDeclaration } from '../types/environment.ts';
import { dynType, stringType, type Type } from '../types/type.ts';
import { CelError } from '../value/error.ts';
import { isList, isMap, typeNameOf } from '../value/kinds.ts';
import { mapEntries } from '../value/map.ts';
import { StructValue, type Value, type ValueObject } from '../value/value.ts';

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
  build: (fields) => {
    for (const [name, value] of Object.entries(fields)) {
      if (name !== 'value' && typeof value !== 'string') {
        throw new CelError(`unexpected type ${typeNameOf(value)} for JSONPatchType '${name}' field`);
      }
    }
    return new StructValue('JSONPatch', fields, jsonPatchDefaults);
  },
};

/** `Object{…}` and `Object.spec{…}`: any field is allowed, and its type is known at run time only. */
function objectStruct(name: string): StructDeclaration | undefined {
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined;
  return { name, fieldType: () => dynType, build: (fields) => new StructValue(name, fields) };
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
  const visitFields = ({ fields }: StructValue, name: string): void => {
    for (const field in fields) {
      const inner = fields[field] as Value;
      if (typeof inner === 'object' && inner !== null) visit(inner, name, field);
    }
  };
  // The expected name is `parent.field`; it is built only for messages, because this runs for each mutation.
  const visit = (item: Value, parent: string, field: string): void => {
    // Values may share parts with themselves, so that a small one stands for a huge one.
    spendSteps(4);
    if (item instanceof StructValue) {
      if (isFieldName(item.typeName, parent, field)) {
        visitFields(item, item.typeName);
        return;
      }
      const expected = `${parent}.${field}`;
      problems.push(
        `unexpected type name "${item.typeName}", expected "${expected}", which matches field name path from root Object type`,
      );
      visitFields(item, expected);
    } else if (isList(item)) {
      for (const inner of item) visit(inner, parent, field);
    } else if (isMap(item)) {
      for (const [, inner] of mapEntries(item)) visit(inner, parent, field);
    }
  };
  visitFields(value, value.typeName);
  return problems;
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
