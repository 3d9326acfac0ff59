import { metadataOf } from '../../json/metadata.ts';
import { readObject } from '../../json/read-field.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import { refOf, refTitle } from '../object-identity.ts';
import { StoreError } from '../ports.ts';

/** The body of the subresources status and scale; undefined for others. */
export function readPart(object: JsonObject, subresource: string): JsonObject | undefined {
  if (subresource === '' || subresource === 'status') return object;
  const replicas = readObject(object, 'spec')?.['replicas'];
  if (subresource !== 'scale' || typeof replicas !== 'number') return undefined;
  const metadata = Object.entries(metadataOf(object)).filter(([key]) => scaleMetadata.has(key));
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: Object.fromEntries(metadata),
    spec: { replicas },
  };
}

const scaleMetadata = new Set(['name', 'namespace', 'uid', 'resourceVersion']);

/** Replaces a subresource of the object. */
export function writePart(object: JsonObject, subresource: string, part: JsonObject): JsonObject {
  if (subresource === '') return part;
  if (subresource === 'status') {
    const status = part['status'];
    return status === undefined ? object : { ...object, status };
  }
  const replicas = readObject(part, 'spec')?.['replicas'];
  if (subresource !== 'scale' || typeof replicas !== 'number') {
    throw new StoreError('invalid', `${refTitle(refOf(object))} has no subresource ${subresource}`);
  }
  const spec = object['spec'];
  return { ...object, spec: { ...(isObject(spec) ? spec : {}), replicas } };
}
