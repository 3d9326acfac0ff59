import { createHash } from 'node:crypto';
import type { DataAnswer } from '../../engine/context/data-source.ts';
import { parseImage } from '../../expression/image.ts';
import { parseJson } from '../../json/json-text.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import { messageOf } from '../api/cluster-error.ts';
import { type RegistryLogin, registryFetch } from './registry-fetch.ts';
import { mayCall } from './service-call.ts';

export interface RegistryLimits {
  /** Registries that policies may read; wildcards are allowed. */
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface RegistryQuery {
  readonly reference: string;
  /** Use plain HTTP. */
  readonly insecure?: boolean | undefined;
  /** Credentials by host. */
  readonly logins?: ReadonlyMap<string, RegistryLogin> | undefined;
}

const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

/** Manifest and configuration of an image, in the form of Kyverno's imageRegistry context. */
export async function readImage(query: RegistryQuery, limits: RegistryLimits): Promise<DataAnswer> {
  const image = parseImage(query.reference);
  if (image === undefined) return missing('the image reference is invalid', 'the image reference is invalid');
  const registry = image.registry ?? 'docker.io';
  if (!mayCall(registry.replace(/:\d+$/, ''), limits.allowedHosts))
    return missing(
      `the registry ${registry} is not among the allowed hosts`,
      'the registry is not among the allowed hosts',
    );
  const isHub = registry === 'docker.io' || registry === 'index.docker.io';
  const repository = isHub && !image.path.includes('/') ? `library/${image.path}` : image.path;
  const identifier = image.digest ?? image.tag ?? 'latest';
  const host = isHub ? 'registry-1.docker.io' : registry;
  const get = registryFetch({
    base: `${query.insecure === true ? 'http' : 'https'}://${host}/v2/${repository}`,
    login: query.logins?.get(registry) ?? query.logins?.get(host),
    ...limits,
  });
  try {
    const top = await get(`/manifests/${identifier}`, [...indexTypes, ...manifestTypes]);
    const document = objectOf(top.body);
    const isIndex = Object.hasOwn(document, 'manifests');
    const manifest = isIndex
      ? objectOf((await get(`/manifests/${platformDigest(document)}`, manifestTypes)).body)
      : document;
    const config = readText(readObject(manifest, 'config') ?? {}, 'digest') ?? '';
    const configData = objectOf((await get(`/blobs/${config}`, ['application/json'])).body);
    const digest =
      image.digest ?? top.digest ?? `sha256:${createHash('sha256').update(top.body).digest('hex')}`;
    const shown = isHub ? 'index.docker.io' : registry;
    return {
      found: true,
      value: {
        image: image.reference,
        resolvedImage: `${shown}/${repository}@${digest}`,
        registry: shown,
        repository,
        identifier,
        ...(isIndex ? { manifestList: document } : {}),
        manifest,
        configData,
      },
    };
  } catch (error) {
    return missing(
      `the registry ${registry} cannot be read: ${messageOf(error)}`,
      'the registry cannot be read',
    );
  }
}

/** The digest for linux/amd64, else the first one: the default of registry clients. */
function platformDigest(index: JsonObject): string {
  const manifests = readObjects(index, 'manifests');
  const chosen =
    manifests.find((each) => {
      const platform = readObject(each, 'platform') ?? {};
      return platform['os'] === 'linux' && platform['architecture'] === 'amd64';
    }) ?? manifests[0];
  return readText(chosen ?? {}, 'digest') ?? '';
}

function objectOf(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error('the response is not a JSON object');
  return value;
}

function missing(error: string, reason: string): DataAnswer {
  return { found: false, error, reason };
}
