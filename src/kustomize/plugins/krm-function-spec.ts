import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { readSettings } from '../yaml/read.ts';
import { annotationsOf } from './annotations.ts';

/** The program that a config names as its function. */
export interface FunctionSpec {
  readonly path: string;
  readonly args: readonly string[];
  /** `NAME=value`, or a name alone. */
  readonly envs: readonly string[];
}

const specAnnotations = ['config.kubernetes.io/function', 'config.k8s.io/function'];

/** Undefined when the config names no function. Throws for containers, which are not run. */
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
  throw invalid(`${place}: exec.${key} is a list of texts`);
}

function checked(value: Json, known: readonly string[], place: string): JsonObject {
  if (!isObject(value)) throw invalid(`${place} is a map`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`${place}: unknown field "${unknown}"`);
  return value;
}

function container(): KustomizeError {
  return new KustomizeError('KYM_PLUGIN_FAILED', 'functions in containers are not run here', {
    hint: 'Name a program with exec.path instead.',
  });
}

function invalid(message: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZATION_INVALID', message);
}
