import { join } from 'node:path';
import { accumulate, emptyAccumulation, isLocal } from './accumulate.ts';
import type { BuildOptions } from './build-context.ts';
import { createSession } from './build-context.ts';
import { withoutInternalAnnotations, writeBuildMetadata } from './build-metadata.ts';
import { defaultFieldSpecs } from './fields/default-field-specs.ts';
import { addNameHashes } from './generators/name-hash.ts';
import type { FolderPlace } from './kustomization/folder.ts';
import type { SortOptions } from './kustomization/kustomization.ts';
import {
  type LoadedKustomization,
  loadKustomization,
  parseKustomization,
} from './kustomization/load-kustomization.ts';
import { atLocation } from './kustomize-error.ts';
import { checkSortOptions, inOutputOrder } from './output-order.ts';
import { repositoryPlace } from './remote/place.ts';
import type { Repositories } from './remote/repositories.ts';
import type { RepositoryUrl } from './remote/repository-url.ts';
import type { Resource } from './resource/resource.ts';
import { fixNameReferences } from './transformers/name-references.ts';
import { resolveVariables } from './transformers/variables.ts';
import { printYaml } from './yaml/print.ts';

/** A folder to build, optionally with a kustomization that replaces its own. */
export interface BuildTarget {
  /** Absolute path, or a folder of a repository to fetch. */
  readonly folder: string | RepositoryUrl;
  /** The name used in messages. */
  readonly name: string;
  readonly kustomization?: { readonly fileName: string; readonly text: string } | undefined;
  /** The default if the kustomization has no `sortOptions`. */
  readonly sortOptions?: SortOptions | undefined;
}

/** Builds a kustomization. Returns its resources in output order. */
export async function build(target: BuildTarget, options: BuildOptions): Promise<readonly Resource[]> {
  const repositories = options.programs?.createRepositories(options);
  const place = await placeOf(target, options, repositories);
  const loaded = load(place, target, options);
  const { kustomization } = loaded;
  const sortOptions = kustomization.sortOptions ?? target.sortOptions;
  const file = join(place.name, loaded.fileName);
  checkSortOptions(sortOptions, file);
  const metadata = kustomization.buildMetadata ?? [];
  const session = createSession(options, metadata.length > 0, repositories);
  const accumulation = emptyAccumulation(defaultFieldSpecs);
  await accumulate(accumulation, place, loaded, session);
  const { set } = accumulation;
  const traced = (title: string) => options.trace?.after({ file, title }, set);
  atLocation({ file }, () => {
    addNameHashes(set);
    traced('hashes at the end of names');
    fixNameReferences(set, accumulation.fieldSpecs.nameReference);
    traced('references to changed names');
    resolveVariables(set, accumulation.variables, accumulation.fieldSpecs.varReference, options.warn);
    traced('values of vars');
  });
  for (const resource of set.list()) {
    if (isLocal(resource.object)) set.remove(resource);
    else set.update(resource, withoutInternalAnnotations(resource.object));
  }
  traced('local and internal data removed');
  writeBuildMetadata(set, metadata);
  traced('buildMetadata');
  return inOutputOrder(set.list(), sortOptions);
}

async function placeOf(
  { folder, name }: BuildTarget,
  { files }: BuildOptions,
  repositories: Repositories | undefined,
): Promise<FolderPlace> {
  if (typeof folder !== 'string') return await repositoryPlace(folder, undefined, repositories, files);
  return { files, root: files.realPath(folder), name, origin: '', parent: undefined };
}

function load(place: FolderPlace, target: BuildTarget, options: BuildOptions): LoadedKustomization {
  if (target.kustomization === undefined) return loadKustomization(place, options.warn);
  const { fileName, text } = target.kustomization;
  return { fileName, kustomization: parseKustomization(text, fileName, options.warn) };
}

/** Prints the resources as a stream of YAML documents. */
export function printResources(resources: readonly Resource[]): string {
  return resources.map(({ object }) => printYaml(object)).join('---\n');
}
