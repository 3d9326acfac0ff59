import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StoreError } from '../../background/ports.ts';
import type { JsonObject } from '../../json/value.ts';
import { describeId, idKey, idOf } from '../../kustomize/resource/resource.ts';
import { printYaml } from '../../kustomize/yaml/print.ts';
import { applyPolicies } from '../../offline/apply-policies.ts';
import { maskPair } from '../../offline/output/mask-secrets.ts';
import type { Paint } from '../../offline/output/paint.ts';
import { unifiedDiff } from '../../offline/output/unified-diff.ts';
import { visible } from '../../offline/output/visible.ts';
import { InputError, inputError } from '../../problem.ts';
import { commandEnvironment } from '../environment.ts';
import { openCluster } from '../input/cluster-input.ts';
import { expandInputs } from '../input/input-paths.ts';
import { readResources } from '../input/resource-reader.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { liveObjects } from './diff-cluster.ts';
import { loadBuildPolicies, printWarnings } from './policies.ts';
import { type BuildCommandOptions, buildResources } from './resources.ts';

export interface DiffOptions extends BuildCommandOptions {
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly nameOnly?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly showSecrets?: boolean | undefined;
}

/** `kymera diff`: compares a build. Lines with `+` belong to the first build. */
export async function diff(
  path: string,
  other: string | undefined,
  options: DiffOptions,
  io: Io,
): Promise<ExitCode> {
  const isAlone = other === undefined && options.cluster !== true;
  if ((isAlone && options.policies === undefined) || (other !== undefined && options.cluster === true)) {
    throw inputError(
      'KYM_USAGE',
      'name exactly one thing to compare with: a second path, --cluster or --policies',
    );
  }
  const built = await objectsOf(path, options, io);
  const after = options.policies === undefined ? built : await withPolicies(built, options.policies, io);
  const before = isAlone
    ? built
    : options.cluster === true
      ? await fromCluster(after, options, io)
      : await objectsOf(other ?? '', options, io);
  const name = isAlone ? `${path} without policies` : (other ?? 'cluster');
  const text = compare(
    before,
    after,
    { before: name, after: path },
    options,
    paintFor(io.stdout, io, options.color),
  );
  await io.stdout.write(text);
  return text === '' ? 0 : 1;
}

/** A folder with a kustomization is built; any other path contains the objects. */
async function objectsOf(path: string, options: DiffOptions, io: Io): Promise<readonly JsonObject[]> {
  if (path === '-' || isKustomization(resolve(io.cwd, path))) {
    return (await buildResources(path, options, io)).map(({ object }) => object);
  }
  const objects: JsonObject[] = [];
  for await (const item of readResources(await expandInputs([path], io.cwd), io)) {
    if ('object' in item) objects.push(item.object);
    else if (item.problem.severity === 'error') throw new InputError([item.problem]);
  }
  return objects;
}

function isKustomization(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return /kustomization\.ya?ml$/.test(path);
  return ['kustomization.yaml', 'kustomization.yml', 'Kustomization'].some((name) =>
    existsSync(join(path, name)),
  );
}

async function withPolicies(
  objects: readonly JsonObject[],
  names: readonly string[],
  io: Io,
): Promise<readonly JsonObject[]> {
  const {
    objects: results,
    failures,
    warnings,
  } = await applyPolicies(await loadBuildPolicies(names, io), objects, commandEnvironment);
  await printWarnings(warnings, io);
  if (failures.length === 0) return results;
  throw new InputError(
    failures.map(({ code, message }) => ({ code, message, severity: 'error' as const, pointer: '' })),
  );
}

async function fromCluster(
  objects: readonly JsonObject[],
  options: DiffOptions,
  io: Io,
): Promise<readonly JsonObject[]> {
  const cluster = await openCluster(options, io);
  try {
    return await liveObjects(objects, cluster.store);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw inputError('KYM_CLUSTER', error.message);
  } finally {
    cluster.close();
  }
}

function compare(
  before: readonly JsonObject[],
  after: readonly JsonObject[],
  names: { readonly before: string; readonly after: string },
  options: DiffOptions,
  paint: Paint,
): string {
  const old = new Map(before.map((object) => [idKey(idOf(object)), object]));
  const fresh = new Map(after.map((object) => [idKey(idOf(object)), object]));
  const keys = [...fresh.keys(), ...[...old.keys()].filter((key) => !fresh.has(key))];
  return keys
    .map((key) => {
      const left = old.get(key);
      const right = fresh.get(key);
      const title = describeId(idOf((right ?? left) as JsonObject));
      const [shownLeft, shownRight] = options.showSecrets === true ? [left, right] : maskPair(left, right);
      const text = unifiedDiff(
        { before: `${names.before}: ${title}`, after: `${names.after}: ${title}` },
        shownLeft === undefined ? '' : printYaml(shownLeft),
        shownRight === undefined ? '' : printYaml(shownRight),
        paint,
      );
      return options.nameOnly === true && text !== '' ? `${visible(title)}\n` : text;
    })
    .join('');
}
