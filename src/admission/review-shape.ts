import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';

/** The first field of a request that holds what an API server never sends there, and what belongs there; undefined when all is well. */
export function misshapen(request: JsonObject): string | undefined {
  return (
    texts(request, '', requestTexts) ??
    typeIn(request, 'kind') ??
    typeIn(request, 'resource') ??
    typeIn(request, 'requestKind') ??
    typeIn(request, 'requestResource') ??
    objects(request, ['object', 'oldObject', 'options', 'userInfo']) ??
    user(request['userInfo']) ??
    (isAbsent(request['dryRun']) || typeof request['dryRun'] === 'boolean'
      ? undefined
      : 'request.dryRun is not true or false')
  );
}

const requestTexts = ['name', 'namespace', 'subResource', 'requestSubResource'] as const;
const typeTexts = ['group', 'version', 'kind', 'resource'] as const;
const userTexts = ['username', 'uid'] as const;

function typeIn(request: JsonObject, field: string): string | undefined {
  const value = request[field];
  if (isAbsent(value)) return undefined;
  if (!isObject(value)) return `request.${field} is not an object`;
  return texts(value, `${field}.`, typeTexts);
}

function user(value: Json | undefined): string | undefined {
  if (!isObject(value)) return undefined;
  const groups = value['groups'];
  const areTexts =
    isAbsent(groups) || (isArray(groups) && groups.every((group) => typeof group === 'string'));
  if (!areTexts) return 'request.userInfo.groups is not a list of texts';
  if (!isAbsent(value['extra']) && !isObject(value['extra']))
    return 'request.userInfo.extra is not an object';
  return texts(value, 'userInfo.', userTexts);
}

function texts(object: JsonObject, prefix: string, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const value = object[field];
    if (typeof value !== 'string' && !isAbsent(value)) return `request.${prefix}${field} is not a text`;
  }
  return undefined;
}

function objects(request: JsonObject, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const value = request[field];
    if (!isAbsent(value) && !isObject(value)) return `request.${field} is not an object`;
  }
  return undefined;
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}
