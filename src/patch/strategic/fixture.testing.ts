// What the tests of the strategic merge share.
import { parse } from 'yaml';
import type { ErrorCode } from '../../errors.ts';
import type { Scope } from '../../expression/scope.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import { compileStrategicMerge } from './compile.ts';

interface Reported {
  readonly path: Path;
  readonly code: ErrorCode;
  readonly message: string;
}

export function compile(overlay: Json) {
  const problems: Reported[] = [];
  const reporter = {
    error: (path: Path, code: ErrorCode, message: string) => void problems.push({ path, code, message }),
    warn: () => {},
  };
  return { patch: compileStrategicMerge(overlay, ['mutate', 'patchStrategicMerge'], reporter), problems };
}

function scopeOf(roots: JsonObject): Scope {
  return {
    lookup: (name) => (Object.hasOwn(roots, name) ? roots[name] : undefined),
    snapshot: () => roots,
    environment: { now: () => new Date(0), random: () => 0 },
  };
}

export function run(overlay: Json, object: JsonObject, roots: JsonObject = { request: { object } }) {
  const { patch, problems } = compile(overlay);
  if (patch === undefined) throw new Error(JSON.stringify(problems));
  return patch.apply(deepFreeze(object), scopeOf(roots));
}

export function apply(overlay: string | Json, object: JsonObject, roots?: JsonObject): JsonObject {
  const result = run(typeof overlay === 'string' ? (parse(overlay) as Json) : overlay, object, roots);
  return result.status === 'patched' ? result.object : object;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

export function object(apiVersion: string, kind: string, rest: string): JsonObject {
  return { apiVersion, kind, ...(parse(rest) as JsonObject) };
}

export const pod = (rest: string): JsonObject => object('v1', 'Pod', rest);
export const podSpec = (spec: string): JsonObject => pod(`{spec: ${spec}}`);
export const containers = (list: string): JsonObject => podSpec(`{containers: ${list}}`);
export const widget = (rest: string): JsonObject => object('example.org/v1', 'Widget', rest);
