import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import type { FieldSpecs, NameBackReference } from './field-specs.ts';

/** Fields that the extensions of a type declare. */
interface Found {
  readonly namePrefix: FieldSpec[];
  readonly commonLabels: FieldSpec[];
  readonly commonAnnotations: FieldSpec[];
  readonly nameReference: NameBackReference[];
}

/**
 * References, labels and annotations that the types of a file under `crds` declare. Types are found under their names,
 * `example.com/v1.Bee`, with their schema.
 */
export function crdFieldSpecs(document: Json): Partial<FieldSpecs> {
  const found: Found = { namePrefix: [], commonLabels: [], commonAnnotations: [], nameReference: [] };
  const types = isObject(document) ? document : {};
  for (const name of Object.keys(types)) {
    const properties = propertiesOf(types, name);
    if (!['kind', 'apiVersion', 'metadata'].every((field) => Object.hasOwn(properties, field))) continue;
    collect(types, name, { kind: name.split('.').at(-1) ?? '', path: [], open: new Set() }, found);
  }
  return found;
}

interface Place {
  readonly kind: string;
  readonly path: readonly string[];
  /** Types on the way here: one that holds itself is not entered again. */
  readonly open: ReadonlySet<string>;
}

function collect(types: JsonObject, name: string, place: Place, found: Found): void {
  if (place.open.has(name)) return;
  const open = new Set([...place.open, name]);
  for (const [field, property] of Object.entries(propertiesOf(types, name))) {
    if (!isObject(property)) continue;
    const path = [...place.path, field];
    const spec: FieldSpec = { kind: place.kind, path: path.join('/') };
    if (extension(property, 'annotation') !== undefined) found.commonAnnotations.push(spec);
    if (extension(property, 'label-selector') !== undefined) found.commonLabels.push(spec);
    if (extension(property, 'identity') !== undefined) found.namePrefix.push(spec);
    const version = extension(property, 'object-ref-api-version');
    const kind = extension(property, 'object-ref-kind');
    if (version !== undefined && kind !== undefined) {
      const key = extension(property, 'object-ref-name-key') ?? 'name';
      const fieldSpecs = [{ kind: place.kind, path: [...path, key].join('/') }];
      found.nameReference.push({ kind, version, fieldSpecs });
    }
    const reference = member(property, '$ref');
    if (typeof reference === 'string') collect(types, reference, { ...place, path, open }, found);
  }
}

function propertiesOf(types: JsonObject, name: string): JsonObject {
  const type = member(types, name);
  const schema = isObject(type) ? (member(type, 'Schema') ?? member(type, 'schema')) : undefined;
  const properties = isObject(schema) ? member(schema, 'properties') : undefined;
  return isObject(properties) ? properties : {};
}

function extension(property: JsonObject, name: string): string | undefined {
  const value = member(property, `x-kubernetes-${name}`);
  return typeof value === 'string' ? value : undefined;
}
