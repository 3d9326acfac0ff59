import { Buffer, isUtf8 } from 'node:buffer';
import type { Json, JsonObject } from '../../json/value.ts';
import type { KustomizationFolder } from '../kustomization/folder.ts';
import type { ConfigMapEntry, GeneratorOptions, SecretEntry } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { type Behavior, createResource, type Resource } from '../resource/resource.ts';
import { type DataEntry, readDataSources } from './data-sources.ts';

/** Merges the options of a generator with `generatorOptions`. Its own values win. */
export function mergeGeneratorOptions(
  own: GeneratorOptions | undefined,
  all: GeneratorOptions | undefined,
): GeneratorOptions {
  return {
    labels: { ...all?.labels, ...own?.labels },
    annotations: { ...all?.annotations, ...own?.annotations },
    disableNameSuffixHash: all?.disableNameSuffixHash === true || own?.disableNameSuffixHash === true,
    immutable: all?.immutable === true || own?.immutable === true,
  };
}

export function generateConfigMap(
  entry: ConfigMapEntry,
  folder: KustomizationFolder,
  field: string,
): Resource {
  const data: Record<string, Json> = {};
  const binaryData: Record<string, Json> = {};
  for (const { key, bytes } of sorted(readDataSources(entry, folder, field))) {
    if (isUtf8(bytes)) data[key] = Buffer.from(bytes).toString('utf8');
    else binaryData[key] = base64(bytes);
  }
  return generated(entry, field, {
    apiVersion: 'v1',
    ...(Object.keys(binaryData).length > 0 && { binaryData }),
    ...(Object.keys(data).length > 0 && { data }),
    kind: 'ConfigMap',
  });
}

export function generateSecret(entry: SecretEntry, folder: KustomizationFolder, field: string): Resource {
  const entries = sorted(readDataSources(entry, folder, field));
  const data = Object.fromEntries(entries.map(({ key, bytes }) => [key, base64(bytes)]));
  return generated(entry, field, {
    apiVersion: 'v1',
    data,
    kind: 'Secret',
    type: (entry.type ?? '') === '' ? 'Opaque' : (entry.type as string),
  });
}

function sorted(entries: readonly DataEntry[]): readonly DataEntry[] {
  return [...entries].sort((left, right) => (left.key < right.key ? -1 : 1));
}

function generated(entry: ConfigMapEntry, field: string, base: JsonObject): Resource {
  if ((entry.name ?? '') === '') {
    throw new KustomizeError('KYM_KUSTOMIZE_GENERATOR', 'a generated resource needs a name', {
      field: `${field}.name`,
    });
  }
  const options = entry.options ?? {};
  const metadata: JsonObject = {
    name: entry.name as string,
    ...((entry.namespace ?? '') !== '' && { namespace: entry.namespace as string }),
    ...(isFilled(options.labels) && { labels: { ...options.labels } }),
    ...(isFilled(options.annotations) && { annotations: { ...options.annotations } }),
  };
  const object: JsonObject = { ...base, metadata, ...(options.immutable === true && { immutable: true }) };
  return createResource(object, {
    behavior: behaviorOf(entry.behavior, field),
    needsHash: options.disableNameSuffixHash !== true,
  });
}

function isFilled(map: Readonly<Record<string, string>> | undefined): boolean {
  return map !== undefined && Object.keys(map).length > 0;
}

function behaviorOf(text: string | undefined, _field: string): Behavior {
  return text === 'merge' || text === 'replace' || text === 'create' ? text : 'unspecified';
}

/** Long base64 is split into lines, so that it prints as a block. */
function base64(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('base64');
  return text.length <= lineLength ? text : `${(text.match(line) ?? []).join('\n')}\n`;
}

const lineLength = 70;
const line = /.{1,70}/g;
