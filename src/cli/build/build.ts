import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printResources } from '../../kustomize/build.ts';
import {
  currentId,
  effectiveNamespace,
  isNamespaced,
  type Resource,
} from '../../kustomize/resource/resource.ts';
import { applyPolicies, type PolicyChange } from '../../offline/apply-policies.ts';
import { inputError } from '../../problem.ts';
import { systemEnvironment } from '../../system-environment.ts';
import type { ExitCode, Io } from '../io.ts';
import { replaceFile } from '../output/write-file.ts';
import { formatChange, loadBuildPolicies } from './policies.ts';
import { type BuildCommandOptions, buildResources } from './resources.ts';

export interface BuildOptions extends BuildCommandOptions {
  readonly output?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly quiet?: boolean | undefined;
}

export async function build(path: string, options: BuildOptions, io: Io): Promise<ExitCode> {
  const policies = options.policies === undefined ? undefined : await loadBuildPolicies(options.policies, io);
  const changes: PolicyChange[] = [];
  const built = await buildResources(path, { ...options, report: (change) => changes.push(change) }, io);
  const objects = built.map(({ object }) => object);
  const outcome =
    policies === undefined ? undefined : await applyPolicies(policies, objects, systemEnvironment);
  const failures = outcome?.failures ?? [];
  for (const { code, message } of failures) await io.stderr.write(`failed: ${message} [${code}]\n`);
  if (failures.length > 0) return 1;
  if (options.quiet !== true) {
    for (const change of [...changes, ...(outcome?.changes ?? [])]) {
      await io.stderr.write(`${formatChange(change)}\n`);
    }
  }
  const resources = built.map((resource, index) => ({
    ...resource,
    object: outcome?.objects[index] ?? resource.object,
  }));
  await writeResources(resources, options.output, io);
  return 0;
}

/** To standard output, to a file, or to a folder with one file for each resource. */
export async function writeResources(
  resources: readonly Resource[],
  output: string | undefined,
  io: Io,
): Promise<void> {
  if (output === undefined) {
    await io.stdout.write(printResources(resources));
    return;
  }
  const target = resolve(io.cwd, output);
  const isFolder =
    output.endsWith('/') || statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return replaceFile(target, printResources(resources));
  makeFolder(target, output);
  for (const [name, resource] of fileNames(resources)) {
    await replaceFile(join(target, name), printResources([resource]));
  }
}

function makeFolder(target: string, output: string): void {
  try {
    mkdirSync(target, { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_FILE_NOT_WRITTEN', `the folder cannot be made: ${reason}`, { file: output });
  }
}

/** Group, version, kind and name; before them the namespace when there are several. */
function fileNames(resources: readonly Resource[]): readonly (readonly [string, Resource])[] {
  const namespaced = resources.filter((resource) => isNamespaced(currentId(resource)));
  const namespaces = new Set(namespaced.map((resource) => effectiveNamespace(currentId(resource))));
  return resources.map((resource) => {
    const id = currentId(resource);
    const parts = [id.group, id.version, id.kind].filter((part) => part !== '');
    const name = `${[...parts, id.name].join('_')}.yaml`.toLowerCase().replaceAll('/', '_');
    const isPrefixed = namespaces.size > 1 && isNamespaced(id);
    return [isPrefixed ? `${effectiveNamespace(id).toLowerCase()}_${name}` : name, resource] as const;
  });
}
