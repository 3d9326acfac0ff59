import {
  anySchema,
  atomicSchema,
  type ListSchema,
  type MapSchema,
  type ScalarSchema,
  type StructuredSchema,
  scalarSchemas,
} from './schema.ts';
import {
  kindReference,
  type ListEntry,
  type MapEntry,
  type TypeReference,
  typeAt,
  untypedReference,
} from './type-table.ts';

/** Groups whose name in the table is not the first part of their full name, and the core group. */
const groupNames: ReadonlyMap<string, string> = new Map([
  ['', 'core'],
  ['rbac.authorization.k8s.io', 'rbac'],
  ['internal.apiserver.k8s.io', 'apiserverinternal'],
  ['flowcontrol.apiserver.k8s.io', 'flowcontrol'],
]);
const shortGroup = /^(apps|autoscaling|batch|extensions|policy)$/;
const kubernetesGroup = /^([a-z]+)\.k8s\.io$/;

const scalars: ReadonlyMap<string, ScalarSchema> = new Map([
  ['s', scalarSchemas.string],
  ['n', scalarSchemas.number],
  ['b', scalarSchemas.boolean],
  ['u', scalarSchemas.untyped],
]);

const known = new Map<string, StructuredSchema>();
/** By apiVersion and kind. Kinds come from requests, so only those that exist are kept. */
const roots = new Map<string, Map<string, StructuredSchema>>();

/**
 * The schema of a built-in kind, by exact apiVersion and kind; undefined for custom resources.
 *
 * @example builtInSchema('v1', 'Pod')
 */
export function builtInSchema(apiVersion: string, kind: string): StructuredSchema | undefined {
  const before = roots.get(apiVersion)?.get(kind);
  if (before !== undefined) return before;
  const found = findSchema(apiVersion, kind);
  if (found === undefined) return undefined;
  const kinds = roots.get(apiVersion) ?? new Map<string, StructuredSchema>();
  roots.set(apiVersion, kinds);
  kinds.set(kind, found);
  return found;
}

function findSchema(apiVersion: string, kind: string): StructuredSchema | undefined {
  const slash = apiVersion.indexOf('/');
  const group = apiVersion.slice(0, Math.max(slash, 0));
  const short = groupNames.get(group) ?? (shortGroup.test(group) ? group : kubernetesGroup.exec(group)?.[1]);
  if (short === undefined) return undefined;
  const reference = kindReference(`${short}.${apiVersion.slice(slash + 1)}.${kind}`);
  return reference === undefined ? undefined : schemaOf(reference);
}

/** The schema of `metadata`. */
export function objectMetaSchema(): StructuredSchema | undefined {
  const pod = builtInSchema('v1', 'Pod');
  return pod?.kind === 'map' ? pod.field('metadata') : undefined;
}

function schemaOf(reference: TypeReference): StructuredSchema {
  if (typeof reference !== 'string') return 'list' in reference ? listOf(reference) : mapOf(reference);
  const scalar = scalars.get(reference);
  if (scalar !== undefined) return scalar;
  const found = known.get(reference);
  if (found !== undefined) return found;
  if (reference === untypedReference) return atomicSchema;
  const entry = typeAt(reference);
  if (entry === undefined) throw new Error(`the generated table has no type ${reference}`);
  const schema = schemaOf(entry);
  known.set(reference, schema);
  return schema;
}

function listOf({ list, of, keys }: ListEntry): StructuredSchema {
  if (of === untypedReference) return anySchema;
  const schema: ListSchema = { kind: 'list', merge: list, keys, items: schemaOf(of) };
  return schema;
}

/** Types are recursive, so fields are resolved when they are read. */
function mapOf({ fields, values, atomic, defaults }: MapEntry): MapSchema {
  const resolved = new Map<string, StructuredSchema>();
  const valueSchema = values === undefined ? undefined : schemaOf(values);
  return {
    kind: 'map',
    atomic,
    field(name) {
      const field = resolved.get(name);
      if (field !== undefined) return field;
      const reference = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (reference === undefined) return valueSchema;
      const found = schemaOf(reference);
      resolved.set(name, found);
      return found;
    },
    declares: (name) => Object.hasOwn(fields, name),
    fieldNames: Object.keys(fields),
    defaults,
  };
}
