import { removeMember, setMember } from '../json/edit.ts';
import { isObject, type Json, type JsonObject, member } from '../json/value.ts';
import type { Origin, Resource } from './resource/resource.ts';
import type { ResourceSet } from './resource/resource-set.ts';
import { yamlText } from './yaml/text.ts';

export const originAnnotation = 'config.kubernetes.io/origin';
export const transformerAnnotation = 'alpha.config.kubernetes.io/transformations';
const managedByLabel = 'app.kubernetes.io/managed-by';
/** The kustomize version whose output this build matches. */
const managedBy = 'kustomize-v5.8.1';

/** Records a transformer on every resource. A resource without origin was created by it. */
export function recordTransformation(set: ResourceSet, configuredIn: string, configuredBy: JsonObject): void {
  for (const resource of set.list()) {
    const changes: Partial<Omit<Resource, 'object'>> =
      resource.origin === undefined
        ? { origin: { configuredIn, configuredBy } }
        : { transformations: [...resource.transformations, { configuredIn, configuredBy }] };
    set.update(resource, resource.object, changes);
  }
}

/** Adds the labels and annotations that `buildMetadata` requests. */
export function writeBuildMetadata(set: ResourceSet, wanted: readonly string[]): void {
  for (const resource of set.list()) {
    let object = resource.object;
    if (wanted.includes('originAnnotations') && resource.origin !== undefined) {
      object = withEntry(object, 'annotations', originAnnotation, originText(resource.origin, ''));
    }
    if (wanted.includes('transformerAnnotations') && resource.transformations.length > 0) {
      const text = resource.transformations
        .map((origin) => `- ${originText(origin, '  ').trimStart()}`)
        .join('');
      object = withEntry(object, 'annotations', transformerAnnotation, text);
    }
    if (wanted.includes('managedByLabel')) object = withEntry(object, 'labels', managedByLabel, managedBy);
    set.update(resource, object);
  }
}

function originText(origin: Origin, indent: string): string {
  const lines: string[] = [];
  if (origin.path !== undefined) lines.push(`path: ${yamlText(origin.path, 6, 2)}`);
  if (origin.repo !== undefined) lines.push(`repo: ${yamlText(origin.repo, 6, 2)}`);
  if (origin.ref !== undefined && origin.ref !== '') lines.push(`ref: ${yamlText(origin.ref, 5, 2)}`);
  if (origin.configuredIn !== undefined) lines.push(`configuredIn: ${yamlText(origin.configuredIn, 14, 2)}`);
  if (origin.configuredBy !== undefined) {
    lines.push('configuredBy:');
    for (const field of ['apiVersion', 'kind', 'name', 'namespace']) {
      const value = member(origin.configuredBy, field);
      if (typeof value === 'string' && value !== '') lines.push(`  ${field}: ${yamlText(value, 0, 2)}`);
    }
  }
  return lines.map((line) => `${indent}${line}\n`).join('');
}

function withEntry(object: JsonObject, field: string, key: string, text: string): JsonObject {
  const metadata = member(object, 'metadata');
  const base = isObject(metadata) ? metadata : {};
  const entries = member(base, field);
  return setMember(
    object,
    'metadata',
    setMember(base, field, setMember(isObject(entries) ? entries : {}, key, text)),
  );
}

/** Internal annotations of kustomize; they are not printed. */
const internalAnnotations: ReadonlySet<string> = new Set([
  'config.kubernetes.io/index',
  'config.kubernetes.io/path',
  ...[
    'index',
    'path',
    'seqindent',
    'previousKinds',
    'previousNames',
    'previousNamespaces',
    'prefixes',
    'suffixes',
    'allowNameChange',
    'allowKindChange',
    'refBy',
    'generatorBehavior',
    'needsHashSuffix',
  ].map((name) => `internal.config.kubernetes.io/${name}`),
]);

/** Also converts scalars that a patch or replacement wrote to strings. */
export function withoutInternalAnnotations(object: JsonObject): JsonObject {
  const metadata = member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  if (!isObject(metadata) || !isObject(annotations)) return object;
  let rest = annotations;
  for (const key of Object.keys(annotations)) {
    const value = annotations[key] as Json;
    if (internalAnnotations.has(key)) rest = removeMember(rest, key);
    else if (typeof value !== 'string' && (value === null || typeof value !== 'object')) {
      rest = setMember(rest, key, String(value));
    }
  }
  if (Object.keys(rest).length === 0) {
    return setMember(object, 'metadata', removeMember(metadata, 'annotations'));
  }
  return rest === annotations
    ? object
    : setMember(object, 'metadata', setMember(metadata, 'annotations', rest));
}
