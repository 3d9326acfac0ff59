import { exampleText } from '../../analysis/interplay/example-value.ts';
import type { RequestUser } from '../../engine/request.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { filterBlocks } from '../../policy/check/match-blocks.ts';
import type { Operation } from '../../policy/compiled.ts';
import { defaultUser } from './sample.ts';

/** The parts of requests beside the object, with values for which the clauses of rules hold and do not hold. */
export interface RequestParts {
  readonly operations: readonly Operation[];
  readonly users: readonly RequestUser[];
  readonly namespaceLabels: readonly JsonObject[];
}

export function requestParts(rules: readonly JsonObject[]): RequestParts {
  const blocks = rules.flatMap((rule) =>
    ['match', 'exclude'].flatMap((field) => filterBlocks(readObject(rule, field) ?? {}, []).blocks),
  );
  const text = stringifyJson([...rules]);
  const isDeleteSeen = text.includes('DELETE');
  return {
    operations: isDeleteSeen ? ['CREATE', 'UPDATE', 'DELETE'] : ['CREATE', 'UPDATE'],
    users: [
      defaultUser,
      ...blocks.flatMap(({ block }) => readObjects(block, 'subjects').flatMap(usersOf)),
      ...mentionedUsers(text),
    ],
    namespaceLabels: [
      {},
      ...blocks.flatMap(({ resources }) => selectedLabels(readObject(resources, 'namespaceSelector') ?? {})),
    ],
  };
}

function user(username: string, groups: readonly string[]): RequestUser {
  return { info: { username, groups }, roles: [], clusterRoles: [] };
}

function usersOf(subject: JsonObject): readonly RequestUser[] {
  const name = exampleText(readText(subject, 'name') ?? '');
  const namespace = readText(subject, 'namespace') ?? 'default';
  switch (readText(subject, 'kind')) {
    case 'User':
      return [user(name, []), user(`${name}x`, [name])];
    case 'Group':
      return [user('alice', [name]), user('alice', ['other', name]), user(name, [`${name}x`])];
    default:
      return [
        user(`system:serviceaccount:${namespace}:${name}`, ['system:serviceaccounts']),
        user(`system:serviceaccount:other:${name}`, ['system:serviceaccounts']),
        user(name, []),
      ];
  }
}

/** Names of users in conditions. */
function mentionedUsers(text: string): readonly RequestUser[] {
  if (!text.includes('userInfo') && !text.includes('serviceAccount')) return [];
  const names = [...text.matchAll(/"([\w:.@*-]{2,80})"/g)].map(([, name = '']) => exampleText(name));
  return [...new Set(names)]
    .slice(0, 40)
    .flatMap((name) => [user(name, [name]), user(`system:serviceaccount:default:${name}`, [])]);
}

function selectedLabels(selector: JsonObject): readonly JsonObject[] {
  const labels = Object.entries(readTextMap(selector, 'matchLabels')).map(
    ([key, value]) => [exampleText(key), exampleText(value)] as const,
  );
  const expressions = readObjects(selector, 'matchExpressions').map(
    (expression) =>
      [readText(expression, 'key') ?? '', readTexts(expression, 'values')[0] ?? 'example'] as const,
  );
  const all = [...labels, ...expressions];
  const withOther = all.map(([key]) => ({ ...Object.fromEntries(all), [key]: 'other' }));
  const without = all.map(([key]) => Object.fromEntries(all.filter(([each]) => each !== key)));
  return all.length === 0 ? [] : [Object.fromEntries(all), ...withOther, ...without];
}
