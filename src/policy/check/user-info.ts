import { findVariables } from '../../expression/template/tokens.ts';
import { readList, readObject } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { filterBlocks, userFields } from './match-blocks.ts';

/**
 * Reports data of the requester in a policy that is also processed in the background, where there is no request. As in
 * Kyverno, this applies to rules of all types, and variables are allowed in a policy that mutates existing objects.
 */
export function checkUserInfo(rule: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  if (!facts.background) return;
  for (const filter of ['match', 'exclude']) {
    for (const { block, path } of filterBlocks(readObject(rule, filter) ?? {}, [filter]).blocks) {
      for (const field of userFields) {
        if (readList(block, field).length > 0) report(field, [...path, field], reporter);
      }
    }
  }
  if (!facts.mutatesExisting) checkVariables(rule, [], reporter);
}

const userVariable =
  /(?<![.\w])(serviceAccountName|serviceAccountNamespace|request\.userInfo|request\.roles|request\.clusterRoles)\b/;

function checkVariables(value: Json, path: Path, reporter: Reporter): void {
  if (typeof value === 'string') {
    const names = findVariables(value).map(({ expression }) => userVariable.exec(expression)?.[1]);
    const name = names.find((found) => found !== undefined);
    if (name !== undefined) report(name, path, reporter);
  } else if (isArray(value)) {
    for (const [index, item] of value.entries()) checkVariables(item, [...path, index], reporter);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) checkVariables(item, [...path, key], reporter);
  }
}

function report(name: string, path: Path, reporter: Reporter): void {
  const message = `${name} identifies the requester, and background processing has no request`;
  reporter.error(path, 'KYM_BACKGROUND_USER_INFO', message, 'Set spec.background to false.');
}
