import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import type { FieldSpec, VarEntry } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { allIds, currentId, type Resource, type ResourceId, sameId } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** A variable of `vars` with the resource it refers to. */
export interface Variable {
  readonly name: string;
  readonly entry: VarEntry;
  /** The file that declares it. */
  readonly file: string;
  readonly resource: Resource | undefined;
}

export type Variables = readonly Variable[];

/** Adds the variables of a kustomization, and resolves their resources before later renames. */
export function mergeVars(
  known: Variables,
  more: readonly VarEntry[],
  set: ResourceSet,
  file: string,
): Variables {
  return joinVariables(
    known,
    more.map((entry, index) => bind(entry, set, file, `vars[${index}]`)),
  );
}

export function joinVariables(known: Variables, more: Variables): Variables {
  const names = new Set(known.map(({ name }) => name));
  for (const { name, file } of more) {
    if (names.has(name)) {
      throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', `the variable "${name}" is declared twice`, {
        file,
        field: 'vars',
      });
    }
    names.add(name);
  }
  return [...known, ...more];
}

function bind(entry: VarEntry, set: ResourceSet, file: string, field: string): Variable {
  const wanted = targetOf(entry);
  const anyNamespace = wanted.namespace === '';
  const matches = set
    .list()
    .filter((resource) =>
      allIds(resource).some(
        (id) => id.name === wanted.name && sameId(anyNamespace ? { ...id, namespace: '' } : id, wanted),
      ),
    );
  if (matches.length > 1) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_NO_TARGET',
      `the variable "${entry.name ?? ''}" matches ${matches.length} resources`,
      { file, field },
    );
  }
  return { name: entry.name ?? '', entry, file, resource: matches[0] };
}

function targetOf({ objref = {} }: VarEntry): ResourceId {
  const [version = '', group = ''] = (objref.apiVersion ?? '').split('/').reverse();
  return {
    group: objref.group ?? group,
    version: objref.version ?? version,
    kind: objref.kind ?? '',
    name: objref.name ?? '',
    namespace: objref.namespace ?? '',
  };
}

/** Replaces `$(NAME)` in the fields that may contain variables. */
export function resolveVariables(
  set: ResourceSet,
  variables: Variables,
  specs: readonly FieldSpec[],
  warn: (text: string) => void,
): void {
  if (variables.length === 0) return;
  const values = new Map(variables.map((variable) => [variable.name, variableValue(variable)]));
  const used = new Set<string>();
  const read = (name: string) => {
    if (values.has(name)) used.add(name);
    return values.get(name);
  };
  for (const resource of set.list()) {
    const id = currentId(resource);
    let object = resource.object;
    for (const spec of specs) {
      if (isSelected(id, spec))
        object = changeFields(object, spec, undefined, (value) => resolved(value, read));
    }
    if (object !== resource.object) set.update(resource, object);
  }
  const unused = [...values.keys()].filter((name) => !used.has(name));
  if (unused.length > 0) warn(`unused variables: ${unused.join(', ')}`);
}

function variableValue({ name, entry, file, resource }: Variable): Json {
  if (resource === undefined) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_NO_TARGET',
      `the variable "${name}" refers to a resource that does not exist`,
      {
        file,
        field: 'vars',
      },
    );
  }
  const path = entry.fieldref?.fieldpath ?? '';
  const value = fieldAt(resource.object, path === '' ? 'metadata.name' : path);
  if (value !== undefined) return value;
  throw new KustomizeError(
    'KYM_KUSTOMIZE_NO_TARGET',
    `the variable "${name}" refers to the missing field ${path}`,
    {
      file,
      field: 'vars',
    },
  );
}

/** Reads a path with dots and `[0]`; `\.` is a dot in a name. */
function fieldAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const part of path.split(/(?<!\\)\./).flatMap((text) => text.split(/\[(\d+)\]/))) {
    if (part === '') continue;
    if (isArray(value)) value = value[Number(part)];
    else value = isObject(value) ? member(value, part.replaceAll('\\.', '.')) : undefined;
  }
  return value;
}

type ReadVariable = (name: string) => Json | undefined;

function resolved(value: Json, read: ReadVariable): Json {
  if (typeof value === 'string') return resolvedText(value, read);
  if (isArray(value)) {
    const items = value.map((item) => (typeof item === 'string' ? resolvedText(item, read) : item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    key,
    typeof item === 'string' ? resolvedText(item, read) : item,
  ]);
  return entries.every(([key, item]) => item === value[key]) ? value : Object.fromEntries(entries);
}

/** A string that is only a variable gets its value and type; `$$` is `$`. */
function resolvedText(text: string, read: ReadVariable): Json {
  const whole = /^\$\(([^)]*)\)$/.exec(text);
  const value = whole === null ? undefined : read(whole[1] ?? '');
  if (value !== undefined && !isContainer(value)) return value;
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (found, name: string | undefined) => {
    if (name === undefined) return '$';
    const inner = read(name);
    return inner === undefined || isContainer(inner) ? found : String(inner);
  });
}

function isContainer(value: Json): boolean {
  return typeof value === 'object';
}
