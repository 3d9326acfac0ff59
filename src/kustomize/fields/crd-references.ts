import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import type { FieldSpecs, NameBackReference } from './field-specs.ts';

/** Field specs found in the `x-kubernetes-*` extensions of a type. */
interface Found {
  readonly namePrefix: FieldSpec[];
  readonly commonLabels: FieldSpec[];
  readonly commonAnnotations: FieldSpec[];
  readonly nameReference: NameBackReference[];
}

/**
 * Field specs for references, labels and annotations that the types in a `crds` file declare. Types are listed by name,
 * such as `example.com/v1.Bee`.
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

interface Position {
  readonly kind: string;
  readonly path: readonly string[];
  /** Types on the path, to stop at recursive types. */
  readonly open: ReadonlySet<string>;
}

function collect(types: JsonObject, name: string, position: Position, found: Found): void {
  if (position.open.has(name)) return;
  const open = new Set([...position.open, name]);
  for (const [field, property] of Object.entries(propertiesOf(types, name))) {
    if (!isObject(property)) continue;
    const path = [...position.path, field];
    const spec: FieldSpec = { kind: position.kind, path: path.join('/') };
    if (extension(property, 'annotation') !== undefined) found.commonAnnotations.push(spec);
    if (extension(property, 'label-selector') !== undefined) found.commonLabels.push(spec);
    if (extension(property, 'identity') !== undefined) found.namePrefix.push(spec);
    const version = extension(property, 'object-ref-api-version');
    const kind = extension(property, 'object-ref-kind');
    if (version !== undefined && kind !== undefined) {
      const key = extension(property, 'object-ref-name-key') ?? 'name';
      const fieldSpecs = [{ kind: position.kind, path: [...path, key].join('/') }];
      found.nameReference.push({ kind, version, fieldSpecs });
    }
    const reference = member(property, '$ref');
    if (typeof reference === 'string') collect(types, reference, { ...position, path, open }, found);
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
