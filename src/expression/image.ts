import { LRUCache } from 'lru-cache';
import { isArray, isObject, type Json, type JsonObject, member, type Path, valueAt } from '../json/value.ts';
import { EvaluationError, type ImageDefaults, type Scope } from './scope.ts';

/** The parts of an image reference. Empty parts are absent, as in the `images` variable. */
export interface ImageInfo {
  readonly registry?: string;
  readonly name: string;
  readonly path: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly reference: string;
  readonly referenceWithTag: string;
}

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const digestSyntax = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const registrySyntax = new RegExp(`^${host}$`);
const pathSyntax = new RegExp(`^${component}(?:/${component})*$`);
const tagSyntax = /^\w[\w.-]{0,127}$/;
const digestPattern = new RegExp(`^${digestSyntax}$`);
const digestLengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

/**
 * Splits an image reference as Kyverno does: short names get the default registry, `library/` is
 * not inserted, the tag defaults to `latest` unless there is a digest. Undefined for an invalid reference.
 *
 * @example parseImage('nginx')?.reference // 'docker.io/nginx:latest'
 */
export function parseImage(text: string, defaults = hubDefaults): ImageInfo | undefined {
  if (hasRegistry(text)) return parseFull(text);
  const info = parseFull(`${defaults.defaultRegistry}/${text}`);
  return info === undefined || defaults.enableDefaultRegistryMutation ? info : shortInfo(info);
}

const hubDefaults: ImageDefaults = { defaultRegistry: 'docker.io', enableDefaultRegistryMutation: true };

function parseFull(full: string): ImageInfo | undefined {
  const known = recent.get(full);
  if (known !== undefined) return known;
  const info = splitReference(full);
  if (info !== undefined) recent.set(full, info);
  return info;
}

/** Removes the default registry again. A first part with `_` counts as a registry, as in Kyverno. */
function shortInfo({ registry: _, ...info }: ImageInfo): ImageInfo {
  const { path, tag, digest } = info;
  const short = {
    ...info,
    reference: digest === undefined ? `${path}:${tag}` : `${path}@${digest}`,
    referenceWithTag: `${path}:${tag ?? ''}`,
  };
  const slash = path.indexOf('/');
  if (slash < 0 || !path.slice(0, slash).includes('_')) return short;
  return { ...short, registry: path.slice(0, slash), path: path.slice(slash + 1) };
}

/** The same few images recur in a cluster. */
const recent = new LRUCache<string, ImageInfo>({ max: 1000 });

function splitReference(full: string): ImageInfo | undefined {
  const slash = full.indexOf('/');
  const at = full.indexOf('@', slash);
  const beforeDigest = at < 0 ? full : full.slice(0, at);
  const colon = beforeDigest.indexOf(':', slash);
  const registry = full.slice(0, slash);
  const path = colon < 0 ? beforeDigest.slice(slash + 1) : beforeDigest.slice(slash + 1, colon);
  const writtenTag = colon < 0 ? '' : beforeDigest.slice(colon + 1);
  const digest = at < 0 ? '' : full.slice(at + 1);
  if (!registrySyntax.test(registry) || path.length > 255 || !pathSyntax.test(path)) return undefined;
  if (colon >= 0 && !tagSyntax.test(writtenTag)) return undefined;
  if (at >= 0 && !isDigest(digest)) return undefined;
  const tag = writtenTag === '' && digest === '' ? 'latest' : writtenTag;
  return {
    registry,
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    ...(tag === '' ? {} : { tag }),
    ...(digest === '' ? {} : { digest }),
    reference: digest === '' ? `${registry}/${path}:${tag}` : `${registry}/${path}@${digest}`,
    referenceWithTag: `${registry}/${path}:${tag}`,
  };
}

function isDigest(text: string): boolean {
  if (!digestPattern.test(text)) return false;
  const colon = text.indexOf(':');
  const length = digestLengths.get(text.slice(0, colon));
  return length === text.length - colon - 1 && !/[A-F]/.test(text.slice(colon));
}

function hasRegistry(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const first = text.slice(0, slash);
  return /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first;
}

const podSpec: Path = ['spec'];
const templateSpec: Path = ['spec', 'template', 'spec'];
const podSpecPaths: ReadonlyMap<string, Path> = new Map([
  ['Pod', podSpec],
  ['DaemonSet', templateSpec],
  ['Deployment', templateSpec],
  ['ReplicaSet', templateSpec],
  ['ReplicationController', templateSpec],
  ['StatefulSet', templateSpec],
  ['Job', templateSpec],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
]);
const containerLists = ['initContainers', 'containers', 'ephemeralContainers'];

/**
 * The `images` variable: images by container list and container name, or undefined for kinds without pods.
 * Throws EvaluationError for an image that does not parse.
 */
export function imagesOf(object: JsonObject, kind: string, defaults?: ImageDefaults): JsonObject | undefined {
  const path = podSpecPaths.get(kind);
  if (path === undefined) return undefined;
  const spec = valueAt(object, path);
  if (!isObject(spec)) return {};
  const images: Record<string, Json> = {};
  for (const list of containerLists) {
    const found = imagesOfList(member(spec, list), `/${[...path, list].join('/')}`, defaults);
    if (found.length > 0) images[list] = Object.fromEntries(found);
  }
  return images;
}

function imagesOfList(
  containers: Json | undefined,
  pointer: string,
  defaults: ImageDefaults | undefined,
): [string, Json][] {
  if (!isArray(containers)) return [];
  const images: [string, Json][] = [];
  containers.forEach((container, index) => {
    if (!isObject(container)) return;
    const place = `${pointer}/${index}`;
    const name = member(container, 'name');
    if (typeof name !== 'string') {
      throw new EvaluationError('KYM_EXPRESSION_FAILED', `images: ${place} has no name`);
    }
    const image = member(container, 'image');
    if (typeof image !== 'string' || image.trim() === '') return;
    const info = parseImage(image, defaults);
    if (info === undefined) {
      throw new EvaluationError(
        'KYM_EXPRESSION_FAILED',
        `images: invalid image '${image}' at ${place}/image`,
      );
    }
    images.push([name, { ...info, jsonPointer: `${place}/image` }]);
  });
  return images;
}

/** Which container has an image without this part; undefined if the map is not an image of the request. */
export function describeMissingPart(image: JsonObject, part: string, scope: Scope): string | undefined {
  const images = scope.lookup('images');
  for (const list of isObject(images) ? Object.values(images) : []) {
    for (const [container, info] of isObject(list) ? Object.entries(list) : []) {
      if (info === image) return `container ${container} (${String(image['reference'])}) has no ${part}`;
    }
  }
  return undefined;
}
