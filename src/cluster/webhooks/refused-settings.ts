import { stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { configuration, validatingConfiguration } from './configuration.ts';
import { validatingConfigurationName } from './names.ts';
import { namespaceSelector, type WebhookSettings } from './settings.ts';

/** Settings of webhooks that users configure, with their keys in the ConfigMap. */
const chosen = {
  namespaceSelector: 'webhooks',
  objectSelector: 'webhooks',
  matchConditions: 'matchConditions',
  annotations: 'webhookAnnotations',
  labels: 'webhookLabels',
} as const;
type Chosen = keyof typeof chosen;
const names = Object.keys(chosen) as Chosen[];

export interface RefusedSetting {
  readonly name: Chosen;
  /** Its key in the ConfigMap. */
  readonly key: string;
  readonly message: string;
}

/** Finds settings that the API server refuses whatever the policies are, by a dry run with each setting alone. */
export async function refusedSettings(
  settings: WebhookSettings,
  refusalOf: (configuration: JsonObject) => Promise<string | undefined>,
): Promise<readonly RefusedSetting[]> {
  const refused: RefusedSetting[] = [];
  for (const name of names) {
    if (settings[name] === undefined) continue;
    const others = names.filter((each) => each !== name);
    const message = await refusalOf(trial(withoutSettings(settings, others)));
    if (message !== undefined) refused.push({ name, key: chosen[name], message });
  }
  return refused;
}

/** Resets the settings to their defaults. */
export function withoutSettings(settings: WebhookSettings, unwanted: readonly Chosen[]): WebhookSettings {
  const entries = Object.entries(settings).filter(
    ([name]) => !(unwanted as readonly string[]).includes(name),
  );
  return Object.fromEntries(entries) as unknown as WebhookSettings;
}

/** A key that identifies the configured settings. */
export function choiceOf(settings: WebhookSettings): string {
  return stringifyJson(names.map((name) => settings[name] ?? null));
}

function trial(settings: WebhookSettings): JsonObject {
  const [entry = {}] = validatingConfiguration(settings)['webhooks'] as readonly JsonObject[];
  const { objectSelector, matchConditions } = settings;
  const shaped: JsonObject = {
    ...entry,
    namespaceSelector: namespaceSelector(settings),
    objectSelector: objectSelector ?? {},
    ...(matchConditions === undefined ? {} : { matchConditions: [...matchConditions] }),
  };
  return configuration('ValidatingWebhookConfiguration', validatingConfigurationName, [shaped], settings);
}
