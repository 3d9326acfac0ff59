import { defaultRequestSettings, type RequestSettings } from '../../admission/policy-provider.ts';
import { approximateNumber, parseQuantity } from '../../expression/quantity.ts';
import { readObject, readTextMap } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';

/** The settings of the ConfigMap. */
export interface ClusterSettings {
  readonly request: RequestSettings;
  readonly generateSuccessEvents: boolean;
  /** Actions whose success events are written; empty for all. */
  readonly successEventActions: readonly string[];
  readonly webhookNamespaceSelector?: JsonObject | undefined;
  readonly webhookObjectSelector?: JsonObject | undefined;
  readonly webhookAnnotations?: Readonly<Record<string, string>> | undefined;
  readonly webhookLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchConditions?: readonly JsonObject[] | undefined;
  readonly updateRequestThreshold: number;
}

export interface SettingsResult {
  readonly settings: ClusterSettings;
  /** One message for each invalid key; the default applies instead. */
  readonly problems: readonly string[];
}

export const defaultSettings: ClusterSettings = {
  request: defaultRequestSettings,
  generateSuccessEvents: false,
  successEventActions: [],
  updateRequestThreshold: 1000,
};

/** Reads the ConfigMap, which has the keys of Kyverno's. `given` holds the values of flags, for keys that are not set. */
export function readSettings(
  configMap: JsonObject | undefined,
  given: RequestSettings = defaultRequestSettings,
): SettingsResult {
  const data = readTextMap(configMap ?? {}, 'data');
  const problems: string[] = [];
  const text = (key: string) => (Object.hasOwn(data, key) ? data[key]?.trim() || undefined : undefined);
  const list = (key: string, otherwise: readonly string[] = []) =>
    Object.hasOwn(data, key)
      ? (data[key] ?? '')
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean)
      : otherwise;
  const json = (key: string): Json | undefined => {
    const value = text(key);
    if (value === undefined) return undefined;
    try {
      return JSON.parse(value) as Json;
    } catch {
      problems.push(`${key} is not JSON`);
      return undefined;
    }
  };
  const flag = (key: string, otherwise: boolean) => {
    const value = text(key);
    if (value === undefined) return otherwise;
    if (value !== 'true' && value !== 'false') problems.push(`${key} is neither true nor false`);
    return value === 'true' || (value !== 'false' && otherwise);
  };

  const webhooks = firstObject(json('webhooks'));
  const annotations = json('webhookAnnotations');
  const labels = json('webhookLabels');
  const conditions = json('matchConditions');
  const namespaceSelector = readObject(webhooks, 'namespaceSelector');
  const objectSelector = readObject(webhooks, 'objectSelector');
  const registry = text('defaultRegistry') ?? given.defaultRegistry;
  const isRegistry = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:\d+)?(\/[-\w./]+)?$/i.test(registry);
  if (!isRegistry) problems.push('defaultRegistry is not a host name');

  const settings: ClusterSettings = {
    request: {
      resourceFilters: data['resourceFilters']?.trim() ?? given.resourceFilters,
      excludeUsernames: list('excludeUsernames', given.excludeUsernames),
      excludeGroups: list('excludeGroups', given.excludeGroups),
      excludeRoles: list('excludeRoles', given.excludeRoles),
      excludeClusterRoles: list('excludeClusterRoles', given.excludeClusterRoles),
      defaultRegistry: isRegistry ? registry : given.defaultRegistry,
      enableDefaultRegistryMutation: flag(
        'enableDefaultRegistryMutation',
        given.enableDefaultRegistryMutation,
      ),
      maxContextSize: bytes(text('maxContextSize'), given.maxContextSize, problems),
    },
    generateSuccessEvents: flag('generateSuccessEvents', false),
    successEventActions: list('successEventActions'),
    webhookNamespaceSelector: namespaceSelector,
    webhookObjectSelector: objectSelector,
    ...(isObject(annotations) ? { webhookAnnotations: readTextMap({ annotations }, 'annotations') } : {}),
    ...(isObject(labels) ? { webhookLabels: readTextMap({ labels }, 'labels') } : {}),
    ...(isArray(conditions) ? { matchConditions: conditions.filter(isObject) } : {}),
    updateRequestThreshold: threshold(text('updateRequestThreshold'), problems),
  };
  return { settings, problems };
}

/** Old releases of Kyverno wrote a list with one item. */
function firstObject(value: Json | undefined): JsonObject {
  const first = isArray(value) ? value[0] : value;
  return isObject(first) ? first : {};
}

function threshold(text: string | undefined, problems: string[]): number {
  if (text === undefined || /^\d+$/.test(text)) return Number(text ?? defaultSettings.updateRequestThreshold);
  problems.push('updateRequestThreshold is not a number');
  return defaultSettings.updateRequestThreshold;
}

function bytes(text: string | undefined, otherwise: number, problems: string[]): number {
  if (text === undefined) return otherwise;
  const quantity = parseQuantity(text);
  const value = quantity === undefined ? -1 : approximateNumber(quantity);
  if (value >= 0) return value;
  problems.push('maxContextSize is not a quantity');
  return otherwise;
}
