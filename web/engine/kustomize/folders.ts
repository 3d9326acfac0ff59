import { dirname, join } from 'node:path';
import { isArray, isObject, type Json, member } from '../../../src/json/value.ts';
import { kustomizationNames } from '../../../src/kustomize/kustomization/load-kustomization.ts';
import { readSettings } from '../../../src/kustomize/yaml/read.ts';
import type { SourceText } from '../workspace.ts';

const names: ReadonlySet<string> = new Set(kustomizationNames);

/** The folders that can be built. Those that no other kustomization uses come first. */
export function buildFolders(files: readonly SourceText[]): readonly string[] {
  const found = files
    .filter(({ name }) => names.has(name.slice(name.lastIndexOf('/') + 1)))
    .map(({ name, text }) => ({ folder: dirname(name), settings: settingsOf(text, name) }));
  const used = new Set(
    found.flatMap(({ folder, settings }) =>
      ['resources', 'bases', 'components'].flatMap((field) =>
        textsAt(settings, field).map((path) => join(folder, path).replace(/\/$/, '')),
      ),
    ),
  );
  const folders = found
    .filter(({ settings }) => kindOf(settings) !== 'Component')
    .map(({ folder }) => folder);
  return [
    ...folders.filter((folder) => !used.has(folder)).sort(),
    ...folders.filter((folder) => used.has(folder)).sort(),
  ];
}

/** Null for a text that cannot be read: the build reports it. */
function settingsOf(text: string, name: string): Json {
  try {
    return readSettings(text, name);
  } catch {
    return null;
  }
}

function textsAt(settings: Json, field: string): readonly string[] {
  const list = isObject(settings) ? member(settings, field) : undefined;
  return isArray(list) ? list.filter((item): item is string => typeof item === 'string') : [];
}

function kindOf(settings: Json): Json | undefined {
  return isObject(settings) ? member(settings, 'kind') : undefined;
}
