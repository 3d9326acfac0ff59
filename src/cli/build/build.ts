import { printResources } from '../../kustomize/build.ts';
import {
  currentId,
  effectiveNamespace,
  isNamespaced,
  type Resource,
} from '../../kustomize/resource/resource.ts';
import { recordTrace } from '../../kustomize/trace.ts';
import { applyPolicies, type PolicyChange } from '../../offline/apply-policies.ts';
import { visible } from '../../offline/output/visible.ts';
import { commandEnvironment } from '../environment.ts';
import type { ExitCode, Io } from '../io.ts';
import { openResultOutput } from '../output/result-output.ts';
import { formatChange, loadBuildPolicies, printWarnings } from './policies.ts';
import { type BuildCommandOptions, buildResources } from './resources.ts';
import { formatStage } from './stage-text.ts';

export interface BuildOptions extends BuildCommandOptions {
  readonly output?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly quiet?: boolean | undefined;
  readonly explain?: boolean | undefined;
}

/** `kymera build`: builds a kustomization as kustomize does. */
export async function build(path: string, options: BuildOptions, io: Io): Promise<ExitCode> {
  const policies = options.policies === undefined ? undefined : await loadBuildPolicies(options.policies, io);
  const changes: PolicyChange[] = [];
  const trace = options.explain === true ? recordTrace() : undefined;
  const report = (change: PolicyChange) => changes.push(change);
  const built = await buildResources(path, { ...options, trace, report }, io).finally(async () => {
    for (const stage of trace?.stages ?? []) await io.stderr.write(formatStage(stage));
  });
  const objects = built.map(({ object }) => object);
  const outcome =
    policies === undefined ? undefined : await applyPolicies(policies, objects, commandEnvironment);
  await printWarnings(outcome?.warnings ?? [], io);
  const failures = outcome?.failures ?? [];
  for (const { code, message } of failures) await io.stderr.write(`failed: ${visible(message)} [${code}]\n`);
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
async function writeResources(
  resources: readonly Resource[],
  path: string | undefined,
  io: Io,
): Promise<void> {
  const output = await openResultOutput(path, io, (name) => name);
  if (output.apart) {
    for (const [name, resource] of fileNames(resources)) await output.write(printResources([resource]), name);
  } else await output.write(printResources(resources), '');
  await output.release();
}

/** `GROUP_VERSION_KIND_NAME.yaml`, with the namespace in front when there are several namespaces. */
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
