import { setMember } from '../../json/edit.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import type { ResourceId } from '../resource/resource.ts';

/** The initial value of a missing field. Undefined: missing fields are not created. */
export type Created = 'map' | 'scalar' | undefined;

/** Whether the spec applies to this kind. Empty fields match all. */
export function isSelected(
  id: Pick<ResourceId, 'group' | 'version' | 'kind'>,
  spec: {
    readonly group?: string | undefined;
    readonly version?: string | undefined;
    readonly kind?: string | undefined;
  },
): boolean {
  return (
    ((spec.kind ?? '') === '' || spec.kind === id.kind) &&
    ((spec.group ?? '') === '' || spec.group === id.group) &&
    ((spec.version ?? '') === '' || spec.version === id.version)
  );
}

/**
 * Changes the values at the path of a field spec, in every item of lists on the path. Returns the same object (===) if
 * nothing changes.
 */
export function changeFields(
  object: JsonObject,
  spec: FieldSpec,
  created: Created,
  change: (value: Json) => Json,
): JsonObject {
  const walk: Walk = { segments: segmentsOf(spec.path), spec, created, change };
  return changeBelow(object, 0, walk) as JsonObject;
}

interface Segment {
  readonly name: string;
  /** `name[]`: a list, which is never created. */
  readonly isList: boolean;
}

interface Walk {
  readonly segments: readonly Segment[];
  readonly spec: FieldSpec;
  readonly created: Created;
  readonly change: (value: Json) => Json;
}

const knownPaths = new Map<string, readonly Segment[]>();

/** Splits a path at slashes; `\/` is a slash in a name. */
function segmentsOf(path: string): readonly Segment[] {
  const known = knownPaths.get(path);
  if (known !== undefined) return known;
  const segments = path
    .replace(/^\//, '')
    .split(/(?<!\\)\//)
    .map((part) => part.replaceAll('\\/', '/'))
    .map((part) =>
      part.endsWith('[]') ? { name: part.slice(0, -2), isList: true } : { name: part, isList: false },
    );
  knownPaths.set(path, segments);
  return segments;
}

function changeBelow(value: Json, at: number, walk: Walk): Json {
  if (at === walk.segments.length) return walk.change(value);
  if (value === null) return value;
  if (isArray(value)) {
    let changed: Json[] | undefined;
    for (const [index, item] of value.entries()) {
      const result = changeBelow(item, at, walk);
      if (result === item) continue;
      changed ??= [...value];
      changed[index] = result;
    }
    return changed ?? value;
  }
  if (!isObject(value)) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_RESOURCE',
      `the field ${walk.spec.path} passes through ${stringifyJson(value)}, which is neither a map nor a list`,
    );
  }
  return changeMember(value, at, walk);
}

function changeMember(map: JsonObject, at: number, walk: Walk): Json {
  const { name, isList } = walk.segments[at] as Segment;
  const mayCreate = walk.spec.create === true && walk.created !== undefined && !isList;
  const present = member(map, name);
  if (present === undefined && !mayCreate) return map;
  const isLast = at + 1 === walk.segments.length;
  const before =
    (present ?? null) === null && mayCreate
      ? isLast && walk.created === 'scalar'
        ? ''
        : {}
      : (present ?? null);
  const after = changeBelow(before, at + 1, walk);
  return after === present ? map : setMember(map, name, after);
}
