import { isAbsolute, resolve } from 'node:path';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { defaultPluginLimits } from '../build-context.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { annotationsOf } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { printYaml } from '../yaml/print.ts';
import { readSettings } from '../yaml/read.ts';
import { annotatedForPlugin } from './annotations.ts';
import { pluginFailed, runPlugin } from './process.ts';
import { readOutput } from './result.ts';

/** Runs a function as generator. Its config is the only input item. */
export async function generateByFunction(
  spec: FunctionSpec,
  config: JsonObject,
  context: BuildContext,
): Promise<readonly JsonObject[]> {
  return run(spec, config, [withLocalConfig(printYaml(config))], context);
}

/** Runs a function as transformer. */
export async function transformByFunction(
  spec: FunctionSpec,
  config: JsonObject,
  set: ResourceSet,
  context: BuildContext,
): Promise<readonly JsonObject[]> {
  const items = set.list().map((resource) => printYaml(annotatedForPlugin(resource)));
  return run(spec, config, items, context);
}

export function functionTitle(spec: FunctionSpec): string {
  return `the function ${spec.path}`;
}

async function run(
  spec: FunctionSpec,
  config: JsonObject,
  items: readonly string[],
  context: BuildContext,
): Promise<readonly JsonObject[]> {
  const { folder, options } = context;
  if (folder.root === '/') {
    throw new KustomizeError('KYM_PLUGIN_FAILED', 'functions cannot run in the folder /');
  }
  const command = {
    title: functionTitle(spec),
    // A name without a slash is looked up in PATH.
    path: isAbsolute(spec.path) || !spec.path.includes('/') ? spec.path : resolve(folder.root, spec.path),
    args: spec.args,
    folder: folder.root,
    environment: { ...options.environment, ...environmentOf(spec.envs, options.environment) },
    input: resourceList(config, items),
    show: options.show,
  };
  const result = await runPlugin(command, options.pluginLimits ?? defaultPluginLimits);
  if (result.exitCode !== 0) {
    throw pluginFailed(command.title, `exited with code ${result.exitCode}`, result.messages);
  }
  // A ResourceList is read like any list; its `results` are ignored.
  return readOutput(result.output, command.title, context);
}

function environmentOf(
  envs: readonly string[],
  inherited: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    envs.map((entry) => {
      const equals = entry.indexOf('=');
      return equals < 0 ? [entry, inherited[entry]] : [entry.slice(0, equals), entry.slice(equals + 1)];
    }),
  );
}

/** Prints a ResourceList exactly like kustomize, including the order of annotations. */
function resourceList(config: JsonObject, items: readonly string[]): string {
  const head = 'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n';
  const listed = items.map((item, index) => listItem(withCounters(item, index))).join('');
  const body = items.length === 0 ? 'items: []\n' : `items:\n${listed}`;
  return `${head}${body}functionConfig:\n${indented(withLocalConfig(printYaml(config)), '  ')}`;
}

function withCounters(text: string, index: number): string {
  return withAnnotationLines(text, [
    ['config.kubernetes.io/index', String(index)],
    ['internal.config.kubernetes.io/index', String(index)],
    ['internal.config.kubernetes.io/annotations-migration-resource-id', String(index)],
    ['internal.config.kubernetes.io/id', String(index + 1)],
    ['config.k8s.io/id', String(index + 1)],
  ]);
}

/** Removes the config from the output if a function returns it. */
function withLocalConfig(text: string): string {
  return withAnnotationLines(text, [['config.kubernetes.io/local-config', 'true']]);
}

/** Appends annotations to those of a printed resource. */
function withAnnotationLines(text: string, annotations: readonly (readonly [string, string])[]): string {
  const added = annotations.map(([key, value]) => `    ${key}: '${value}'`);
  const lines = text.split('\n');
  const metadata = lines.indexOf('metadata:');
  const heading = lines.indexOf('  annotations:', metadata);
  const isThere = metadata >= 0 && heading > metadata && lines.slice(metadata + 1, heading).every(isInside);
  if (!isThere) {
    lines.splice(metadata + 1, 0, '  annotations:', ...added);
    return lines.join('\n');
  }
  let end = heading + 1;
  while (end < lines.length && /^(?: {4}|$)/.test(lines[end] ?? '') && end < lines.length - 1) end++;
  lines.splice(end, 0, ...added);
  return lines.join('\n');
}

function isInside(line: string): boolean {
  return line === '' || line.startsWith(' ');
}

function listItem(text: string): string {
  return indented(text, '  ').replace(/^ {2}/, '- ');
}

function indented(text: string, pad: string): string {
  return text.replace(/^(?=.)/gm, pad);
}

/** The executable of a KRM function. */
export interface FunctionSpec {
  readonly path: string;
  readonly args: readonly string[];
  /** `NAME=value`, or a name alone. */
  readonly envs: readonly string[];
}

const specAnnotations = ['config.kubernetes.io/function', 'config.k8s.io/function'];

/** Undefined if the config has no function. Throws for containers, which are not supported. */
export function functionSpec(config: JsonObject): FunctionSpec | undefined {
  const annotations = annotationsOf(config);
  for (const annotation of specAnnotations) {
    const text = member(annotations, annotation);
    if (typeof text !== 'string' || text === '') continue;
    return readSpec(readSettings(text, annotation), annotation);
  }
  const metadata = member(config, 'metadata');
  const inline = isObject(metadata) ? member(metadata, 'configFn') : undefined;
  if (inline !== undefined && inline !== null) return readSpec(inline, 'metadata.configFn');
  if (member(annotations, 'config.kubernetes.io/container') !== undefined) throw container();
  return undefined;
}

function readSpec(value: Json, place: string): FunctionSpec {
  const spec = checked(value, ['exec', 'container', 'deferFailure', 'starlark'], place);
  if (member(spec, 'container') !== undefined || member(spec, 'starlark') !== undefined) throw container();
  const exec = checked(member(spec, 'exec') ?? null, ['path', 'args', 'envs'], `${place}: exec`);
  const path = member(exec, 'path');
  if (typeof path !== 'string' || path === '') throw invalid(`${place}: exec has no path`);
  return { path, args: texts(exec, 'args', place), envs: texts(exec, 'envs', place) };
}

function texts(exec: JsonObject, key: string, place: string): readonly string[] {
  const value = member(exec, key) ?? [];
  if (isArray(value) && value.every((item) => typeof item === 'string')) return value as readonly string[];
  throw invalid(`${place}: exec.${key} must be a list of strings`);
}

function checked(value: Json, known: readonly string[], place: string): JsonObject {
  if (!isObject(value)) throw invalid(`${place} must be a map`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`${place}: unknown field "${unknown}"`);
  return value;
}

function container(): KustomizeError {
  return new KustomizeError('KYM_PLUGIN_FAILED', 'container functions are not supported', {
    hint: 'Use exec.path instead.',
  });
}

function invalid(message: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZATION_INVALID', message);
}
