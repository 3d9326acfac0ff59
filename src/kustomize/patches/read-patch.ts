import { isArray, isObject, type Json } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { KustomizeError, type KustomizeLocation, withLocation } from '../kustomize-error.ts';
import type { Resource } from '../resource/resource.ts';
import { readSettingsYaml, yamlMessage } from '../yaml/read.ts';
import { type JsonPatchOperation, readJsonPatch } from './json.ts';

/** A parsed patch. */
export type ReadPatch =
  | { readonly type: 'strategic'; readonly patches: readonly Resource[] }
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] };

/**
 * A list is a JSON patch, a map with kind and name a strategic merge patch; `type` must agree. JSON patches are read with YAML
 * 1.1 booleans, strategic merge patches like resources.
 */
export function readPatch(
  text: string,
  type: string | undefined,
  place: KustomizeLocation,
  context: BuildContext,
): ReadPatch {
  if (type !== undefined && !knownTypes.includes(type)) {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', `unknown patch type '${type}'`, {
      ...place,
      field: `${place.field}.type`,
      hint: `Known: ${knownTypes.join(', ')}.`,
    });
  }
  const first = firstDocument(text, place);
  const isJson = isArray(first);
  if (first !== undefined && !isJson && !isObject(first)) {
    throw unreadable(
      'the patch is neither a list of operations nor a map with kind and metadata.name',
      place,
    );
  }
  if (first !== undefined && type !== undefined && isJson !== (type === 'JsonPatch')) {
    throw unreadable(
      `the patch is a ${isJson ? 'JSON patch' : 'strategic merge patch'}, not a ${type}`,
      place,
    );
  }
  try {
    return isJson
      ? { type: 'json', operations: readJsonPatch(first) }
      : {
          type: 'strategic',
          patches: first === undefined ? [] : context.parseResources(text, place.file ?? ''),
        };
  } catch (error) {
    if (!(error instanceof KustomizeError)) throw error;
    const what = isJson ? 'JSON patch' : 'strategic merge patch';
    throw withLocation(unreadable(`not a ${what}: ${error.message}`, error.place), place);
  }
}

const knownTypes = ['StrategicMergePatch', 'JsonPatch'];

/** Undefined if the patch contains only comments. */
function firstDocument(text: string, place: KustomizeLocation): Json | undefined {
  try {
    return readSettingsYaml(text)[0];
  } catch (error) {
    throw unreadable(`unable to parse a strategic merge or JSON patch: ${yamlMessage(error)}`, place);
  }
}

function unreadable(message: string, place: KustomizeLocation): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_PATCH', message, place);
}
