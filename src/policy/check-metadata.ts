import type { JsonObject } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import { checkObject } from './check-schema.ts';
import type { ObjectSchema } from './schema.ts';

const readFields: ObjectSchema = {
  name: { type: 'string', description: 'The name of the object.' },
  namespace: { type: 'string', description: 'Its namespace.' },
  labels: { type: 'texts', description: 'Its labels.' },
  annotations: { type: 'texts', description: 'Its annotations.' },
};

/** The fields of metadata that are read; the others belong to Kubernetes. */
export function checkMetadataTypes(metadata: JsonObject, reporter: Reporter): void {
  const known = Object.entries(metadata).filter(([key]) => Object.hasOwn(readFields, key));
  checkObject(Object.fromEntries(known), readFields, ['metadata'], reporter, '');
}
