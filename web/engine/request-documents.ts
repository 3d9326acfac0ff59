import { isObject, type JsonObject } from '../../src/json/value.ts';
import { namespaceOf } from '../../src/offline/object-identity.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import type { RequestForm } from './workspace.ts';

/** The form as the documents that `kymera apply --values --userinfo` and tests read. */
export interface RequestDocuments {
  readonly values?: JsonObject | undefined;
  readonly userInfo?: JsonObject | undefined;
}

/** Throws an Error if the old object or a label cannot be read. */
export function requestDocuments(form: RequestForm, objects: readonly JsonObject[]): RequestDocuments {
  return { values: valuesOf(form, objects), userInfo: userInfoOf(form) };
}

function valuesOf(form: RequestForm, objects: readonly JsonObject[]): JsonObject | undefined {
  const oldObject = form.oldObject.trim() === '' ? undefined : parseYamlText(form.oldObject);
  if (oldObject !== undefined && !isObject(oldObject)) throw new Error('the old object must be a map');
  const labels = parseLabels(form.namespaceLabels);
  const globalValues: JsonObject = {
    ...(form.operation === 'CREATE' ? {} : { 'request.operation': form.operation }),
    ...(oldObject === undefined ? {} : { 'request.oldObject': oldObject }),
  };
  const namespaces = [...new Set(objects.map(namespaceOf))].filter((name) => name !== '');
  const namespaceSelector =
    Object.keys(labels).length === 0 ? [] : namespaces.map((name) => ({ name, labels }));
  if (Object.keys(globalValues).length === 0 && namespaceSelector.length === 0) return undefined;
  return {
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'Values',
    metadata: { name: 'values' },
    ...(Object.keys(globalValues).length === 0 ? {} : { globalValues }),
    ...(namespaceSelector.length === 0 ? {} : { namespaceSelector }),
  };
}

function userInfoOf({ username, groups, roles, clusterRoles }: RequestForm): JsonObject | undefined {
  if ([username, groups, roles, clusterRoles].every((text) => text.trim() === '')) return undefined;
  return {
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'UserInfo',
    metadata: { name: 'user-info' },
    roles: splitList(roles),
    clusterRoles: splitList(clusterRoles),
    userInfo: { username: username.trim(), groups: splitList(groups) },
  };
}

function splitList(text: string): string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '');
}

/** Lines `key=value` or `key: value`. */
function parseLabels(text: string): Record<string, string> {
  const labels: [string, string][] = [];
  for (const line of text.split('\n').filter((item) => item.trim() !== '')) {
    const [, key, value] = /^\s*([^\s=:]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      throw new Error(`write the label as key=value: ${line.trim()}`);
    labels.push([key, value]);
  }
  return Object.fromEntries(labels);
}
