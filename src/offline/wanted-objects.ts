import { kindOf } from '../admission/resource-request.ts';
import { findVariables } from '../expression/template/tokens.ts';
import { compileWildcard, type TextMatcher } from '../expression/wildcard.ts';
import { stringifyJson } from '../json/json-text.ts';
import { metadataOf } from '../json/metadata.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../json/value.ts';
import type { CompiledException, CompiledFilter, CompiledPolicy } from '../policy/compiled.ts';
import { resourceOf } from '../policy/resource-name.ts';
import { parseApiPath } from './api-path.ts';

/** Objects that a policy may read besides the object of the request. */
interface Wanted {
  readonly kind: (kind: string) => boolean;
  readonly name: TextMatcher | undefined;
}

const anything: Wanted = { kind: () => true, name: undefined };

/**
 * Selects the input objects that policies can read: sources of replacements, objects of context entries, namespaces for their labels.
 * Undefined when policies read none.
 */
export function wantedObjects(
  policies: readonly CompiledPolicy[],
  exceptions: readonly CompiledException[],
  globalContext: readonly JsonObject[],
): ((object: JsonObject) => boolean) | undefined {
  const rules = policies.flatMap((policy) => policy.rules);
  const filters = [
    ...rules.flatMap((rule) => [rule.match, ...(rule.exclude === undefined ? [] : [rule.exclude])]),
    ...exceptions.map((exception) => exception.match),
  ];
  const wanted = rules.flatMap((rule) => [...wantedBy(rule.document, globalContext)]);
  if (filters.some(readsNamespaceLabels)) wanted.push(exactly('Namespace', undefined));
  for (const { mutation, document } of rules) {
    if (mutation.type !== 'cel') continue;
    // Schemas of custom kinds, and labels for selectors in constraints.
    wanted.push(exactly('CustomResourceDefinition', undefined));
    if (mutation.program.readsData || exceptions.length > 0) wanted.push(anything);
    else if (stringifyJson(document).includes('namespaceSelector'))
      wanted.push(exactly('Namespace', undefined));
  }
  if (wanted.length === 0) return undefined;
  return (object) => {
    const { kind } = kindOf(object);
    const name = metadataOf(object)['name'];
    return wanted.some(
      (one) =>
        one.kind(kind) && (one.name === undefined || (typeof name === 'string' && one.name.matches(name))),
    );
  };
}

function readsNamespaceLabels(filter: CompiledFilter): boolean {
  return [...(filter.any ?? []), ...(filter.all ?? [])].some(
    (block) => block.namespaceSelector !== undefined,
  );
}

/** A rule has context entries and replacements at several levels: loops and targets have their own. */
function* wantedBy(value: Json, globalContext: readonly JsonObject[]): Generator<Wanted> {
  if (isArray(value)) for (const item of value) yield* wantedBy(item, globalContext);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'context' && isArray(inner)) {
      for (const entry of inner) if (isObject(entry)) yield* wantedByEntry(entry, globalContext);
    } else if (key === 'replacements' && isArray(inner)) {
      for (const replacement of inner) yield* wantedByReplacement(replacement);
    } else if (key !== 'patchStrategicMerge' && key !== 'patchesJson6902') {
      yield* wantedBy(inner, globalContext);
    }
  }
}

function* wantedByEntry(entry: JsonObject, globalContext: readonly JsonObject[]): Generator<Wanted> {
  const configMap = member(entry, 'configMap');
  if (isObject(configMap ?? null)) yield exactly('ConfigMap', textIn(configMap, 'name'));
  const apiCall = member(entry, 'apiCall');
  const urlPath = textIn(apiCall, 'urlPath');
  if (urlPath !== undefined) yield wantedByPath(urlPath);
  const reference = textIn(member(entry, 'globalReference'), 'name');
  if (reference !== undefined) yield wantedByReference(reference, globalContext);
}

/** Each variable in a path is one segment of it. */
function wantedByPath(urlPath: string): Wanted {
  const path = parseApiPath(patternOf(urlPath));
  if (path === undefined || path.resource.includes('*')) return anything;
  return {
    kind: (kind) => resourceOf(kind) === path.resource,
    name: path.name === undefined ? undefined : compileWildcard(path.name),
  };
}

function wantedByReference(reference: string, globalContext: readonly JsonObject[]): Wanted {
  const [name] = reference.split('.', 1);
  const entry = globalContext.find((candidate) => metadataOf(candidate)['name'] === name);
  const spec = entry === undefined ? null : (entry['spec'] ?? null);
  const resource = textIn(isObject(spec) ? spec['kubernetesResource'] : undefined, 'resource');
  // An entry that is one of the resources is not known yet.
  return resource === undefined
    ? anything
    : { kind: (kind) => resourceOf(kind) === resource, name: undefined };
}

function* wantedByReplacement(replacement: Json): Generator<Wanted> {
  const source = isObject(replacement) ? member(replacement, 'source') : undefined;
  const kind = textIn(source, 'kind');
  // A source without a name is always the object of the request.
  const name = textIn(source, 'name');
  if (kind !== undefined && name !== undefined) yield exactly(kind, name);
}

function exactly(kind: string, name: string | undefined): Wanted {
  const kinds = compileWildcard(patternOf(kind));
  return {
    kind: (text) => kinds.matches(text),
    name: name === undefined ? undefined : compileWildcard(patternOf(name)),
  };
}

function textIn(value: Json | undefined, key: string): string | undefined {
  const text = isObject(value ?? null) ? member(value as JsonObject, key) : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** A wildcard pattern for all values of a string with variables. */
function patternOf(text: string): string {
  if (text.includes('$(') || text.includes('\\')) return '*';
  let pattern = '';
  let end = 0;
  for (const token of findVariables(text)) {
    pattern += `${text.slice(end, token.start)}*`;
    end = token.end;
  }
  return pattern + text.slice(end);
}
