import { removeMember } from '../../json/edit.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** The value of `$patch`; `merge` by default. */
export type Directive = 'merge' | 'replace' | 'delete';

const directiveKey = '$patch';

/** Takes the directive out of a map. Throws for an unknown directive. */
export function takeMapDirective(map: JsonObject): {
  readonly directive: Directive;
  readonly map: JsonObject;
} {
  const stated = member(map, directiveKey);
  if (stated === undefined) return { directive: 'merge', map };
  return { directive: directiveNamed(stated), map: removeMember(map, directiveKey) };
}

/** For a map that is new in the object: kustomize keeps an unknown directive as a field. */
export function takeDirectiveOfNewMap(map: JsonObject): ReturnType<typeof takeMapDirective> {
  return isDirective(member(map, directiveKey)) ? takeMapDirective(map) : { directive: 'merge', map };
}

/**
 * The directive for a whole list: an item without other fields. Only the first item with a directive counts; an item with
 * more fields applies the directive to itself.
 */
export function listDirective(items: readonly Json[]): Directive | undefined {
  const first = items.find((item) => isObject(item) && Object.hasOwn(item, directiveKey)) as
    | JsonObject
    | undefined;
  if (first === undefined || Object.keys(first).length > 1) return undefined;
  return directiveNamed(first[directiveKey] ?? null);
}

/** Whether an item has this directive. */
export function statesDirective(item: Json, directive: Directive): boolean {
  return isObject(item) && member(item, directiveKey) === directive;
}

function isDirective(value: Json | undefined): value is Directive {
  return value === 'merge' || value === 'replace' || value === 'delete';
}

function directiveNamed(value: Json): Directive {
  if (isDirective(value)) return value;
  const text = typeof value === 'string' ? value : stringifyJson(value);
  throw new KustomizeError('KYM_KUSTOMIZE_PATCH', `unknown patch strategy '${text}'`, {
    hint: '$patch must be merge, replace or delete.',
  });
}
