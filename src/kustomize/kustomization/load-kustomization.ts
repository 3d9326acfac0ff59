import { join } from 'node:path';
import { isObject, type JsonObject } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { readSettings } from '../yaml/read.ts';
import { decode } from './decode.ts';
import { decodeText, type FolderPlace, readFile } from './folder.ts';
import type { ImageEntry, Kustomization } from './kustomization.ts';
import { kustomizationShape } from './kustomization-shape.ts';

export const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const;

export interface LoadedKustomization {
  readonly kustomization: Kustomization;
  readonly fileName: string;
}

/** Reads the kustomization of a folder, which must contain exactly one. */
export function loadKustomization(place: FolderPlace, warn: (text: string) => void): LoadedKustomization {
  const found = kustomizationNames.flatMap((fileName) => {
    const text = readIfPresent(place, fileName);
    return text === undefined ? [] : [{ fileName, text }];
  });
  const [only] = found;
  if (only === undefined) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_NOT_FOUND',
      `the folder ${place.name} contains no kustomization: expected one of ${kustomizationNames.join(', ')}`,
      { file: place.name },
    );
  }
  if (found.length > 1) {
    throw new KustomizeError(
      'KYM_KUSTOMIZATION_INVALID',
      `the folder contains more than one kustomization: ${found.map(({ fileName }) => fileName).join(' and ')}`,
      { file: place.name },
    );
  }
  const file = join(place.name, only.fileName);
  return { kustomization: parseKustomization(only.text, file, warn), fileName: only.fileName };
}

function readIfPresent({ files, root, name }: FolderPlace, fileName: string): string | undefined {
  const path = join(root, fileName);
  if (files.kindOf(path) !== 'file') return undefined;
  const file = join(name, fileName);
  return decodeText(readFile(files, path, file, { file }), file, { file });
}

/** Checks the fields of a kustomization and converts deprecated ones. */
export function parseKustomization(text: string, file: string, warn: (text: string) => void): Kustomization {
  const value = readSettings(text, file);
  const fields = value === null ? {} : decode(value, kustomizationShape, '', { file });
  if (!isObject(fields)) throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'not a map', { file });
  checkKind(fields, file);
  if (!Object.keys(fields).some((field) => !emptyFields.has(field))) {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'the kustomization is empty', { file });
  }
  for (const [field, instead] of deprecated) {
    if (Object.hasOwn(fields, field)) warn(`${file}: "${field}" is deprecated; use "${instead}"`);
  }
  return modernized(fields);
}

const emptyFields = new Set(['apiVersion', 'kind', 'buildMetadata']);

const deprecated = [
  ['bases', 'resources'],
  ['commonLabels', 'labels'],
  ['imageTags', 'images'],
  ['patchesJson6902', 'patches'],
  ['patchesStrategicMerge', 'patches'],
  ['vars', 'replacements'],
] as const;

const apiVersions = {
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  Component: 'kustomize.config.k8s.io/v1alpha1',
} as const;

function checkKind(fields: JsonObject, file: string): void {
  const kind = fields['kind'] ?? 'Kustomization';
  if (kind !== 'Kustomization' && kind !== 'Component') {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'kind must be Kustomization or Component', {
      file,
      field: 'kind',
    });
  }
  const wanted = apiVersions[kind];
  if ((fields['apiVersion'] ?? wanted) !== wanted) {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', `the apiVersion of a ${kind} must be ${wanted}`, {
      file,
      field: 'apiVersion',
    });
  }
}

function modernized(fields: JsonObject): Kustomization {
  const given = fields as unknown as Kustomization & {
    readonly bases?: readonly string[] | undefined;
    readonly imageTags?: readonly ImageEntry[] | undefined;
  };
  const { bases, imageTags, ...rest } = given;
  return {
    ...rest,
    kind: given.kind ?? 'Kustomization',
    ...(bases !== undefined && { resources: [...(given.resources ?? []), ...bases] }),
    ...(imageTags !== undefined && { images: [...(given.images ?? []), ...imageTags] }),
  };
}

/** Whether a file contains a kustomization rather than resources. */
export function isKustomizationText(text: string, file: string): boolean {
  try {
    const value = readSettings(text, file);
    if (!isObject(value)) return true;
    const kind = Object.entries(value).find(([key]) => key.toLowerCase() === 'kind')?.[1];
    return kind === undefined || kind === null || kind === 'Kustomization' || kind === 'Component';
  } catch {
    return true;
  }
}
