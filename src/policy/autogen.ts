import {
  read,
  readList,
  readObject,
  readObjects,
  readText,
  readTextMap,
  readTexts,
} from '../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import { excludeKinds, matchKinds } from './check/match-blocks.ts';
import { parseKind } from './kind-selector.ts';

export const autogenAnnotation = 'pod-policies.kyverno.io/autogen-controllers';

export interface GeneratedRule {
  readonly document: JsonObject;
  /** Index of the author's rule in the policy. */
  readonly source: number;
}

const controllerKinds: Readonly<Record<string, string>> = {
  DaemonSet: 'apps/v1/DaemonSet',
  Deployment: 'apps/v1/Deployment',
  Job: 'batch/v1/Job',
  ReplicaSet: 'apps/v1/ReplicaSet',
  ReplicationController: 'v1/ReplicationController',
  StatefulSet: 'apps/v1/StatefulSet',
};
const cronJob = 'CronJob';
const podKinds = new Set(['Pod', cronJob, ...Object.keys(controllerKinds)]);

/**
 * Generates rules for pod controllers from a rule for Pods. One rule that cannot be translated disables autogen for
 * the whole policy.
 */
export function autogenRules(policy: JsonObject): readonly GeneratedRule[] {
  const rules = readObjects(readObject(policy, 'spec') ?? {}, 'rules');
  if (!canGenerate(rules)) return [];
  const { controllers, cron } = wantedControllers(policy);
  return rules.flatMap((rule, source) => {
    if (!isSource(rule)) return [];
    const generated = [
      controllers.length > 0 ? generateForControllers(rule, controllers) : undefined,
      cron ? generateForCronJob(rule) : undefined,
    ];
    return generated.flatMap((document) => (document === undefined ? [] : [{ document, source }]));
  });
}

/** Names beginning with `autogen-` are reserved for generated rules: the author's rules with such names are dropped when there are any. */
export function isAutogenName(name: string): boolean {
  return name.startsWith('autogen-');
}

function canGenerate(rules: readonly JsonObject[]): boolean {
  const blocks = rules.flatMap(resourceBlocks);
  return (
    rules.every((rule) => !hasUnportablePatch(rule)) &&
    blocks.every(isPortable) &&
    blocks.some((block) => readTexts(block, 'kinds').some((kind) => podKinds.has(kind)))
  );
}

function hasUnportablePatch(rule: JsonObject): boolean {
  const mutate = readObject(rule, 'mutate') ?? {};
  const owners = [mutate, ...readObjects(mutate, 'foreach')];
  return (
    read(rule, 'generate') !== undefined ||
    owners.some((owner) => (readText(owner, 'patchesJson6902') ?? '') !== '')
  );
}

function resourceBlocks(rule: JsonObject): readonly JsonObject[] {
  return [readObject(rule, 'match') ?? {}, readObject(rule, 'exclude') ?? {}]
    .flatMap((filter) => [filter, ...readObjects(filter, 'any'), ...readObjects(filter, 'all')])
    .flatMap((block) => {
      const resources = readObject(block, 'resources');
      return resources === undefined ? [] : [resources];
    });
}

/** Names, labels and annotations of a Pod do not identify its controller. */
function isPortable(block: JsonObject): boolean {
  const kinds = readTexts(block, 'kinds');
  return (
    (readText(block, 'name') ?? '') === '' &&
    readList(block, 'names').length === 0 &&
    read(block, 'selector') === undefined &&
    read(block, 'annotations') === undefined &&
    !(kinds.length > 1 && namesPod(kinds))
  );
}

function namesPod(kinds: readonly string[]): boolean {
  return kinds.some((kind) => parseKind(kind)?.kind === 'Pod');
}

function wantedControllers(policy: JsonObject): { controllers: readonly string[]; cron: boolean } {
  const annotation = readTextMap(readObject(policy, 'metadata') ?? {}, 'annotations')[autogenAnnotation];
  const all = Object.keys(controllerKinds);
  if (annotation === undefined || annotation === 'all') return { controllers: all, cron: true };
  const listed = annotation.split(',');
  return { controllers: all.filter((kind) => listed.includes(kind)), cron: listed.includes(cronJob) };
}

/** A rule for existing objects is not translated: its patch is for its targets, not for the controller. */
function isSource(rule: JsonObject): boolean {
  const excluded = excludeKinds(rule);
  return (
    read(readObject(rule, 'mutate') ?? {}, 'targets') === undefined &&
    !isAutogenName(readText(rule, 'name') ?? '') &&
    namesPod(matchKinds(rule)) &&
    (excluded.length === 0 || namesPod(excluded))
  );
}

function generateForControllers(rule: JsonObject, controllers: readonly string[]): JsonObject | undefined {
  const kinds = controllers.map((kind) => controllerKinds[kind] ?? kind);
  return generate(rule, {
    name: 'autogen',
    kinds,
    takesKinds: (block) => namesPod(readTexts(readObject(block, 'resources') ?? {}, 'kinds')),
    wrap: (overlay) => ({ spec: { template: overlay } }),
    podPath: 'spec.template',
  });
}

function generateForCronJob(rule: JsonObject): JsonObject | undefined {
  return generate(rule, {
    name: 'autogen-cronjob',
    kinds: ['batch/v1/CronJob'],
    takesKinds: () => true,
    wrap: (overlay) => ({ spec: { jobTemplate: { spec: { template: overlay } } } }),
    podPath: 'spec.jobTemplate.spec.template',
  });
}

interface Transformation {
  readonly name: string;
  readonly kinds: readonly string[];
  /** Which any/all blocks get the new kinds. */
  takesKinds(block: JsonObject): boolean;
  wrap(overlay: Json): Json;
  readonly podPath: string;
}

const carriedFields = ['context', 'preconditions', 'skipBackgroundRequests', 'reportProperties'] as const;

function generate(rule: JsonObject, transformation: Transformation): JsonObject | undefined {
  const mutate = wrapMutate(readObject(rule, 'mutate') ?? {}, transformation);
  if (mutate === undefined) return undefined;
  const exclude = readObject(rule, 'exclude');
  const carried = carriedFields.flatMap((field) => {
    const value = read(rule, field);
    return value === undefined ? [] : [[field, value] as const];
  });
  const generated: JsonObject = {
    name: `${transformation.name}-${readText(rule, 'name') ?? ''}`.slice(0, 63),
    match: withKinds(readObject(rule, 'match') ?? {}, transformation, true),
    ...(exclude === undefined ? {} : { exclude: withKinds(exclude, transformation, false) }),
    ...Object.fromEntries(carried),
    mutate,
  };
  return rewriteTexts(generated, transformation.podPath) as JsonObject;
}

/** Undefined when the mutation cannot be translated: only overlays can, also in loops, but not in nested loops. */
function wrapMutate(mutate: JsonObject, { wrap }: Transformation): JsonObject | undefined {
  const overlay = read(mutate, 'patchStrategicMerge');
  if (overlay !== undefined) return { patchStrategicMerge: wrap(overlay) };
  const loops = readObjects(mutate, 'foreach');
  if (loops.length === 0 || loops.some((loop) => read(loop, 'patchStrategicMerge') === undefined))
    return undefined;
  return {
    foreach: loops.map((loop) => {
      // As in Kyverno, `order` is not translated: the generated loop runs in the default order.
      const { order: _order, ...rest } = loop;
      return { ...rest, patchStrategicMerge: wrap(read(loop, 'patchStrategicMerge') ?? null) };
    }),
  };
}

function withKinds(filter: JsonObject, transformation: Transformation, isMatch: boolean): JsonObject {
  for (const mode of ['any', 'all'] as const) {
    if (readList(filter, mode).length === 0) continue;
    const blocks = readObjects(filter, mode).map((block) =>
      transformation.takesKinds(block) ? setKinds(block, transformation.kinds) : block,
    );
    return { ...filter, [mode]: blocks };
  }
  const resources = readObject(filter, 'resources') ?? {};
  const replaces = isMatch || readList(resources, 'kinds').length > 0;
  return replaces ? setKinds(filter, transformation.kinds) : filter;
}

function setKinds(block: JsonObject, kinds: readonly string[]): JsonObject {
  return { ...block, resources: { ...readObject(block, 'resources'), kinds } };
}

/** As in Kyverno, a plain replacement in every string. It also rewrites paths that meant the controller itself. */
function rewriteTexts(value: Json, podPath: string): Json {
  if (typeof value === 'string') return rewriteText(value, podPath);
  if (isArray(value)) return value.map((item) => rewriteTexts(item, podPath));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [rewriteText(key, podPath), rewriteTexts(item, podPath)]),
  );
}

function rewriteText(text: string, podPath: string): string {
  return text.replace(/request\.(object|oldObject)\.(spec|metadata)/g, `request.$1.${podPath}.$2`);
}
