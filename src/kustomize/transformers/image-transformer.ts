import { RE2JS } from 're2js';
import { setMember } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import type { FieldSpec, ImageEntry } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { currentId } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/**
 * Changes name, tag or digest of matching images: first in all `containers` and `initContainers`, then in the fields of the
 * specs. Like kustomize, this adds `tagSuffix` twice to most containers.
 */
export function changeImages(set: ResourceSet, entry: ImageEntry, specs: readonly FieldSpec[]): void {
  const change = imageChange(entry);
  for (const resource of set.list()) {
    const id = currentId(resource);
    if (id.kind === 'CustomResourceDefinition') continue;
    let object = changeContainers(resource.object, change) as JsonObject;
    for (const spec of specs) {
      if (isSelected(id, spec)) object = changeFields(object, spec, undefined, change);
    }
    set.update(resource, object);
  }
}

function changeContainers(value: Json, change: (image: Json) => Json): Json {
  if (isArray(value)) return mapped(value, (item) => changeContainers(item, change));
  if (!isObject(value)) return value;
  let result = value;
  for (const key of Object.keys(value)) {
    const before = value[key] as Json;
    if (typeof before !== 'object' || before === null) continue;
    let after = changeContainers(before, change);
    if ((key === 'containers' || key === 'initContainers') && isArray(after)) {
      after = mapped(after, (item) => changeContainer(item, change));
    }
    if (after !== before) result = setMember(result, key, after);
  }
  return result;
}

function changeContainer(item: Json, change: (image: Json) => Json): Json {
  const image = isObject(item) ? member(item, 'image') : undefined;
  return isObject(item) && image !== undefined ? setMember(item, 'image', change(image)) : item;
}

function mapped(list: readonly Json[], change: (item: Json) => Json): Json {
  const result = list.map(change);
  return result.every((item, index) => item === list[index]) ? list : result;
}

function imageChange(entry: ImageEntry): (image: Json) => Json {
  const pattern = imagePattern(entry.name ?? '');
  return (image) =>
    typeof image === 'string' && pattern.matcher(image).matches() ? changedImage(image, entry) : image;
}

/** As in kustomize, the name is a pattern; tag and digest may follow. */
function imagePattern(name: string): RE2JS {
  try {
    return RE2JS.compile(`${name}(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?`);
  } catch {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', `"${name}" is not a valid image name`, {
      field: 'images',
    });
  }
}

function changedImage(image: string, entry: ImageEntry): string {
  const parts = splitImage(image);
  const newTag = entry.newTag ?? '';
  const newDigest = entry.digest ?? '';
  let { tag, digest } = parts;
  if (newTag !== '' || newDigest !== '') {
    tag = newTag;
    digest = newDigest;
  } else if ((entry.tagSuffix ?? '') !== '') {
    tag += entry.tagSuffix;
    digest = '';
  }
  const name = (entry.newName ?? '') === '' ? parts.name : entry.newName;
  return `${name}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
}

/** A colon before the first slash separates the registry port. */
function splitImage(image: string): { name: string; tag: string; digest: string } {
  const slash = Math.max(image.indexOf('/'), 0);
  const at = image.indexOf('@', slash);
  const colon = image.indexOf(':', slash);
  if (at < 0 && colon < 0) return { name: image, tag: '', digest: '' };
  if (at >= 0 && (colon < 0 || at < colon)) {
    return { name: image.slice(0, at), tag: '', digest: image.slice(at + 1) };
  }
  const end = at < 0 ? image.length : at;
  return {
    name: image.slice(0, colon),
    tag: image.slice(colon + 1, end),
    digest: at < 0 ? '' : image.slice(at + 1),
  };
}
