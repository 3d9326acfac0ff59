import { type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import {
  annotationsOf,
  type Behavior,
  currentId,
  effectiveNamespace,
  type Resource,
  withAnnotations,
} from '../resource/resource.ts';
import { printYaml } from '../yaml/print.ts';

/** Plugins receive it on every resource. Earlier kustomize versions matched plugin output by it. */
const idAnnotation = 'kustomize.config.k8s.io/id';
const hashAnnotation = 'kustomize.config.k8s.io/needs-hash';
const behaviorAnnotation = 'kustomize.config.k8s.io/behavior';
const internal = 'internal.config.kubernetes.io/';

const buildAnnotations: ReadonlySet<string> = new Set([
  idAnnotation,
  ...['previousKinds', 'previousNames', 'previousNamespaces', 'prefixes', 'suffixes'].map(
    (name) => internal + name,
  ),
  ...['allowNameChange', 'allowKindChange', 'refBy', 'generatorBehavior', 'needsHashSuffix'].map(
    (name) => internal + name,
  ),
  ...['path', 'index', 'id', 'seqindent', 'annotations-migration-resource-id'].map((name) => internal + name),
  ...['path', 'index'].map((name) => `config.kubernetes.io/${name}`),
  'config.k8s.io/id',
]);

/** The object for a plugin, with annotations for its id and earlier names. */
export function annotatedForPlugin(resource: Resource): JsonObject {
  const { group, kind, name, namespace, version } = currentId(resource);
  const id = Object.fromEntries(
    Object.entries({ group, kind, name, namespace, version }).filter(([, text]) => text !== ''),
  );
  const previous = resource.previousIds;
  const lists: Readonly<Record<string, readonly string[]>> = {
    previousKinds: previous.map((earlier) => earlier.kind),
    previousNames: previous.map((earlier) => earlier.name),
    previousNamespaces: previous.map(effectiveNamespace),
    prefixes: resource.prefixes,
    suffixes: resource.suffixes,
  };
  const remembered = Object.entries(lists).filter(([, texts]) => texts.length > 0);
  return withAnnotations(resource.object, {
    ...annotationsOf(resource.object),
    ...Object.fromEntries(remembered.map(([key, texts]) => [internal + key, texts.join(',')])),
    [idAnnotation]: printYaml(id),
  });
}

export function withoutBuildAnnotations(object: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const kept = Object.entries(annotations).filter(([key]) => !buildAnnotations.has(key));
  if (kept.length === Object.keys(annotations).length) return object;
  return withAnnotations(object, Object.fromEntries(kept));
}

/** Reads the generator annotations: name hash, and the behavior for an existing id. */
export function generatorRequest(object: JsonObject): {
  readonly object: JsonObject;
  readonly needsHash: boolean;
  readonly behavior: Behavior;
} {
  const annotations = annotationsOf(object);
  const hash = member(annotations, hashAnnotation);
  const behavior = member(annotations, behaviorAnnotation);
  const kept = Object.entries(annotations).filter(
    ([key]) => key !== hashAnnotation && key !== behaviorAnnotation,
  );
  return {
    object:
      kept.length === Object.keys(annotations).length
        ? object
        : withAnnotations(object, Object.fromEntries(kept)),
    needsHash: hash === undefined ? false : parseBoolean(String(hash)),
    behavior: isBehavior(behavior) ? behavior : 'unspecified',
  };
}

function isBehavior(value: unknown): value is Behavior {
  return value === 'create' || value === 'merge' || value === 'replace';
}

/** Parses a boolean like Go. */
function parseBoolean(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw new KustomizeError(
    'KYM_PLUGIN_OUTPUT',
    `the annotation ${hashAnnotation} has the invalid value "${text}"; expected true or false`,
  );
}
