import { isObject, type JsonObject, member } from '../../json/value.ts';

/** The plugin that a config names. */
export interface PluginName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type PluginRole = 'generators' | 'transformers' | 'validators';

/** `groupVersion` is the name for apiVersion in the proposal. It may be a group without version. */
export function pluginName(config: JsonObject): PluginName {
  const apiVersion = textAt(config, 'apiVersion');
  const stated = apiVersion === '' ? textAt(config, 'groupVersion') : apiVersion;
  const slash = stated.indexOf('/');
  const isGroupAlone = slash < 0 && apiVersion === '';
  return {
    group: slash >= 0 ? stated.slice(0, slash) : isGroupAlone ? stated : '',
    version: slash >= 0 ? stated.slice(slash + 1) : isGroupAlone ? '' : stated,
    kind: textAt(config, 'kind'),
  };
}

function textAt(config: JsonObject, key: string): string {
  const value = isObject(config) ? member(config, key) : undefined;
  return typeof value === 'string' ? value : '';
}
