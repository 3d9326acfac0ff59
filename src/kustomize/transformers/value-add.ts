import { setMember } from '../../json/edit.ts';
import { parseIndex } from '../../json/list-index.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { TargetSelector } from '../kustomization/kustomization.ts';
import { KustomizeError, type KustomizeLocation } from '../kustomize-error.ts';
import type { Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { compileSelector } from '../resource/selector.ts';
import { inNamespace } from './namespace-transformer.ts';

/** Where a ValueAddTransformer writes. */
export interface ValueTarget {
  /** All resources if undefined. */
  readonly selector?: TargetSelector | undefined;
  /** Fields separated by slashes; `\/` is a slash in a name. */
  readonly fieldPath?: string | undefined;
  /** Inserts the value into a file path at this position, from 1; 0 replaces the field. */
  readonly filePathPosition?: number | undefined;
}

/** Writes a value to a field of the selected resources. Missing fields are created. */
export function addValue(
  set: ResourceSet,
  value: string,
  targets: readonly ValueTarget[],
  place: KustomizeLocation,
): void {
  for (const { selector, fieldPath = '', filePathPosition = 0 } of targets) {
    const matches = selector === undefined ? undefined : compileSelector(selector, place);
    const selected = set.list().filter((resource) => matches?.matches(resource) ?? true);
    const change = (old: Json): Json =>
      asScalar(filePathPosition > 0 ? insertPart(textOf(old), filePathPosition - 1, value) : value);
    for (const resource of selected) set.update(resource, changed(resource, value, fieldPath, change));
  }
}

function changed(
  { object }: Resource,
  value: string,
  fieldPath: string,
  change: (old: Json) => Json,
): JsonObject {
  if (fieldPath === 'metadata/namespace') return inNamespace(object, { namespace: value, specs: [] });
  const fields = fieldPath.split(/(?<!\\)\//).map((field) => field.replaceAll('\\/', '/'));
  return setAt(object, fields, change, fieldPath) as JsonObject;
}

function setAt(
  value: Json,
  [field, ...rest]: readonly string[],
  change: (old: Json) => Json,
  path: string,
): Json {
  if (field === undefined) {
    if (typeof value === 'object' && value !== null) throw unusable(path, 'is not a scalar');
    return change(value);
  }
  const absent: Json = rest.length === 0 ? '' : {};
  if (isArray(value)) {
    const index = itemIndex(value, field);
    if (index === undefined) throw unusable(path, `has no list item ${field}`);
    return value.map((item, at) => (at === index ? setAt(item, rest, change, path) : item));
  }
  if (!isObject(value)) throw unusable(path, `passes through a scalar at ${field}`);
  return setMember(value, field, setAt(member(value, field) ?? absent, rest, change, path));
}

/** `2`, or `[name=web]`. */
function itemIndex(list: readonly Json[], field: string): number | undefined {
  const [, key = '', wanted = ''] = /^\[([^=]+)=(.*)\]$/s.exec(field) ?? [];
  const index =
    key === ''
      ? (parseIndex(field, false) ?? -1)
      : list.findIndex((item) => isObject(item) && textOf(member(item, key) ?? null) === wanted);
  return index >= 0 && index < list.length ? index : undefined;
}

function unusable(path: string, reason: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_RESOURCE', `the field ${path} ${reason}`);
}

function textOf(value: Json): string {
  return value === null || typeof value === 'object' ? '' : String(value);
}

/** kustomize writes the value without quotes, so a number stays a number. */
function asScalar(text: string): Json {
  const isNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,5})?$/.test(text);
  if (isNumber) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

/** Inserts a part into a file path. An absolute path stays absolute, and a position after the end means the end. */
function insertPart(path: string, position: number, part: string): string {
  const isAbsolute = path.startsWith('/');
  const parts = path.split('/').filter((piece) => piece !== '');
  return (isAbsolute ? '/' : '') + parts.toSpliced(position, 0, part).join('/');
}
