import { type GroupVersionKind, requestFields } from '../engine/request.ts';
import { didYouMean } from '../expression/did-you-mean.ts';
import { hasWildcard } from '../expression/wildcard.ts';
import { stringifyJson } from '../json/json-text.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from '../json/value.ts';
import type { CompiledException, CompiledPolicy } from '../policy/compiled.ts';
import { InputError, inputError, type Problem } from '../problem.ts';
import { parseDottedKey } from './dotted-key.ts';

/** A Values document: data about the request and the cluster. */
export interface ValuesDocument {
  readonly globalValues: JsonObject;
  readonly policies: readonly PolicyValues[];
  /** Labels of namespaces by name. */
  readonly namespaces: ReadonlyMap<string, JsonObject>;
  readonly subresources: readonly SubresourceValues[];
}

/** Objects of this kind are the body of a subresource. */
export interface SubresourceValues {
  readonly kind: GroupVersionKind;
  /** `eviction` */
  readonly subresource: string;
  readonly parent: GroupVersionKind;
}

export interface PolicyValues {
  readonly name: string;
  readonly rules: readonly {
    readonly name: string;
    readonly values: JsonObject;
    /** For each key, a value per element of a loop. The last value applies to the remaining elements. */
    readonly foreachValues: Readonly<Record<string, JsonArray>>;
  }[];
  readonly resources: readonly { readonly name: string; readonly values: JsonObject }[];
}

const knownFields = [
  'apiVersion',
  'kind',
  'metadata',
  'globalValues',
  'policies',
  'namespaceSelector',
  'namespaces',
  'subresources',
];
const operations = new Set(['', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** Throws InputError with every problem. */
export function parseValues(
  document: JsonObject,
  file: string,
): { values: ValuesDocument; warnings: Problem[] } {
  const problems: Problem[] = [];
  const report = (severity: Problem['severity'], pointer: string, message: string) => {
    problems.push({ code: 'KYM_VALUES_INVALID', severity, pointer, message, file });
  };
  const field = fieldReader((pointer, message) => report('error', pointer, message));

  if (document['kind'] === undefined)
    report('warning', '', 'apiVersion and kind are missing: assuming Values of cli.kyverno.io/v1alpha1');
  else if (document['kind'] !== 'Values' && document['kind'] !== 'Value')
    report('error', '/kind', `kind is ${String(document['kind'])}, not Values`);
  for (const key of Object.keys(document)) {
    if (!knownFields.includes(key)) report('error', `/${key}`, `a Values document has no field ${key}`);
  }
  const globalValues = field.map(document, 'globalValues', '');
  const checkKeys = (values: JsonObject, at: string) => {
    for (const [key, value] of Object.entries(values)) {
      const problem = requestKeyProblem(key, value);
      if (problem !== undefined) report('error', `${at}/${key}`, problem);
    }
  };
  checkKeys(globalValues, '/globalValues');
  const policies = field.list(document, 'policies', '').map((policy, index): PolicyValues => {
    const at = `/policies/${index}`;
    return {
      name: field.text(policy, 'name', at),
      rules: field.list(policy, 'rules', at).map((rule, ruleIndex) => ({
        name: field.text(rule, 'name', `${at}/rules/${ruleIndex}`),
        values: field.map(rule, 'values', `${at}/rules/${ruleIndex}`),
        foreachValues: field.lists(rule, 'foreachValues', `${at}/rules/${ruleIndex}`),
      })),
      resources: field.list(policy, 'resources', at).map((resource, resourceIndex) => ({
        name: field.text(resource, 'name', `${at}/resources/${resourceIndex}`),
        values: field.map(resource, 'values', `${at}/resources/${resourceIndex}`),
      })),
    };
  });
  for (const [index, { resources }] of policies.entries()) {
    for (const [at, { values }] of resources.entries()) {
      checkKeys(values, `/policies/${index}/resources/${at}/values`);
    }
  }
  const namespaces = new Map<string, JsonObject>();
  for (const [index, entry] of field.list(document, 'namespaceSelector', '').entries()) {
    const at = `/namespaceSelector/${index}`;
    namespaces.set(field.text(entry, 'name', at), field.map(entry, 'labels', at));
  }
  // Namespace objects win over plain labels.
  for (const [index, entry] of field.list(document, 'namespaces', '').entries()) {
    const metadata = field.map(entry, 'metadata', `/namespaces/${index}`);
    const at = `/namespaces/${index}/metadata`;
    namespaces.set(field.text(metadata, 'name', at), field.map(metadata, 'labels', at));
  }
  const subresources = field.list(document, 'subresources', '').map((entry, index) => {
    const at = `/subresources/${index}`;
    return readSubresource(entry, at, field);
  });
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  return { values: { globalValues, policies, namespaces, subresources }, warnings: problems };
}

function readSubresource(
  entry: JsonObject,
  at: string,
  field: ReturnType<typeof fieldReader>,
): SubresourceValues {
  const own = field.map(entry, 'subresource', at);
  const parent = field.map(entry, 'parentResource', at);
  const kindIn = (object: JsonObject, key: string): GroupVersionKind => ({
    group: typeof object['group'] === 'string' ? object['group'] : '',
    version: field.text(object, 'version', `${at}/${key}`),
    kind: field.text(object, 'kind', `${at}/${key}`),
  });
  const name = field.text(own, 'name', `${at}/subresource`);
  return {
    kind: kindIn(own, 'subresource'),
    subresource: name.slice(name.indexOf('/') + 1),
    parent: kindIn(parent, 'parentResource'),
  };
}

/** A misspelled key or an impossible value; undefined for others. Policies may read fields of `request` that only a test defines. */
function requestKeyProblem(key: string, value: Json): string | undefined {
  const [root = '', field = ''] = parseDottedKey(key);
  if (root !== 'request') {
    return didYouMean(root, ['request']) === undefined ? undefined : `did you mean request.${field}?`;
  }
  if (field === 'operation' && (typeof value !== 'string' || !operations.has(value))) {
    return 'request.operation must be CREATE, UPDATE, DELETE or CONNECT';
  }
  const similar = requestFields.includes(field) ? undefined : didYouMean(field, requestFields);
  return similar === undefined
    ? undefined
    : `request has no field ${field}: did you mean request.${similar}?`;
}

/** Warnings about values that no policy reads. */
export function unusedValues(
  set: JsonObject,
  document: ValuesDocument | undefined,
  policies: readonly CompiledPolicy[],
): readonly Problem[] {
  const warning = (message: string, hint?: string): Problem => ({
    code: 'KYM_VALUES_INVALID',
    severity: 'warning',
    message,
    hint,
    pointer: '',
  });
  if (Object.keys(set).length === 0 && document === undefined) return [];
  const text = policies.map((policy) => stringifyJson(policy.document)).join('\n');
  const unread = Object.keys(set).filter((key) => !text.includes(parseDottedKey(key)[0] ?? ''));
  const names = policies.flatMap(({ name, key }) => [name, key]);
  const unknown = (document?.policies ?? []).filter(({ name }) => name !== '' && !names.includes(name));
  return [
    ...unread
      .filter((key) => !key.startsWith('request.'))
      .map((key) => warning(`--set ${key}: no policy reads ${parseDottedKey(key)[0]}`)),
    ...unknown.map(({ name }) => {
      const similar = didYouMean(name, names);
      const hint = similar === undefined ? undefined : `Did you mean ${similar}?`;
      return warning(`the values name the policy ${name}, which is not among the policies`, hint);
    }),
  ];
}

/** Warnings about exceptions that the user named for policies that are not there. */
export function unusedExceptions(
  exceptions: readonly CompiledException[],
  policies: readonly CompiledPolicy[],
): readonly Problem[] {
  const names = policies.flatMap(({ name, key }) => [name, key]);
  return exceptions.flatMap(({ key, exceptions: entries, source }) =>
    entries
      .filter(({ policyName }) => !hasWildcard(policyName) && !names.includes(policyName))
      .map(({ policyName }): Problem => {
        const similar = didYouMean(policyName, names);
        return {
          code: 'KYM_INPUT_NOT_FOUND',
          severity: 'warning',
          message: `the exception ${key} names the policy ${policyName}, which is not among the policies`,
          hint: similar === undefined ? undefined : `Did you mean ${similar}?`,
          pointer: '',
          ...source,
        };
      }),
  );
}

/** `--set a.b=c,d=e`: values are strings. */
export function parseSet(settings: readonly string[]): JsonObject {
  const values = new Map<string, Json>();
  for (const setting of settings.flatMap((text) => text.split(','))) {
    const equals = setting.indexOf('=');
    const key = setting.slice(0, equals).trim();
    if (equals === -1 || key === '') {
      throw inputError('KYM_USAGE', `--set ${setting}: write key=value`);
    }
    const value = setting.slice(equals + 1).trim();
    const problem = requestKeyProblem(key, value);
    if (problem !== undefined) throw inputError('KYM_USAGE', `--set ${setting}: ${problem}`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

/** Reads typed members of a document and reports members of another type. */
export function fieldReader(error: (pointer: string, message: string) => void) {
  const read = (object: JsonObject, key: string) => member(object, key) ?? null;
  return {
    map(object: JsonObject, key: string, at: string): JsonObject {
      const value = read(object, key);
      if (isObject(value)) return value;
      if (value !== null) error(`${at}/${key}`, `${key} must be a map`);
      return {};
    },
    list(object: JsonObject, key: string, at: string): JsonObject[] {
      const value = read(object, key);
      if (isArray(value) && value.every((item) => isObject(item))) return value as JsonObject[];
      if (value !== null) error(`${at}/${key}`, `${key} must be a list of maps`);
      return [];
    },
    lists(object: JsonObject, key: string, at: string): Readonly<Record<string, JsonArray>> {
      const value = read(object, key);
      if (isObject(value) && Object.values(value).every(isArray)) {
        return value as Readonly<Record<string, JsonArray>>;
      }
      if (value !== null) error(`${at}/${key}`, `${key} must be a map of lists`);
      return {};
    },
    texts(object: JsonObject, key: string, at: string): string[] {
      const value = read(object, key);
      if (isArray(value) && value.every((item) => typeof item === 'string')) return value as string[];
      if (value !== null) error(`${at}/${key}`, `${key} must be a list of strings`);
      return [];
    },
    text(object: JsonObject, key: string, at: string): string {
      const value = read(object, key);
      if (typeof value === 'string' && value !== '') return value;
      error(`${at}/${key}`, value === null ? `${key} is missing` : `${key} must be a string`);
      return '';
    },
  };
}
