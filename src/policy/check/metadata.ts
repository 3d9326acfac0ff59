import { isObject, type JsonObject } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { checkObject } from '../schema/check.ts';
import type { ObjectSchema } from '../schema/schema.ts';

const readFields: ObjectSchema = {
  name: { type: 'string', description: 'The name of the object.' },
  namespace: { type: 'string', description: 'Its namespace.' },
  labels: { type: 'texts', description: 'Its labels.' },
  annotations: { type: 'texts', description: 'Its annotations.' },
};

/** Checks the fields of metadata that are read; Kubernetes checks the others. */
export function checkMetadataTypes(metadata: JsonObject, reporter: Reporter): void {
  const known = Object.entries(metadata)
    .filter(([key]) => Object.hasOwn(readFields, key))
    .map(([key, value]) => [key, isObject(value) ? withoutEmpty(value, key, reporter) : value] as const);
  checkObject(Object.fromEntries(known), readFields, ['metadata'], reporter, '');
}

/** The API server reads `key:` without a value as an empty string. */
function withoutEmpty(texts: JsonObject, field: string, reporter: Reporter): JsonObject {
  const entries = Object.entries(texts);
  for (const [key, value] of entries) {
    if (value === null) reporter.warn(['metadata', field, key], 'KYM_FIELD_TYPE', `${key} has no value`);
  }
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}
