import type { RequestUser } from '../engine/request.ts';
import { isObject, type JsonObject } from '../json/value.ts';
import { InputError, type Problem } from '../problem.ts';
import { fieldReader } from './values-document.ts';

const userFields = ['username', 'groups', 'uid', 'extra'];

/** Reads a UserInfo document: the user of the request. Throws InputError with every problem. */
export function parseUserInfo(document: JsonObject, file: string): RequestUser {
  const problems: Problem[] = [];
  const report = (pointer: string, message: string) => {
    problems.push({ code: 'KYM_VALUES_INVALID', severity: 'error', pointer, message, file });
  };
  const field = fieldReader(report);
  if (document['kind'] !== 'UserInfo') report('/kind', 'the document is not of kind UserInfo');
  const info = field.map(document, 'userInfo', '');
  for (const key of Object.keys(info)) {
    if (!userFields.includes(key)) {
      report(`/userInfo/${key}`, `userInfo has no field ${key}: it has ${userFields.join(', ')}`);
    }
  }
  const username = typeof info['username'] === 'string' ? info['username'] : '';
  const extra = isObject(info['extra']) ? info['extra'] : undefined;
  const user: RequestUser = {
    info: {
      username,
      groups: field.texts(info, 'groups', '/userInfo'),
      ...(typeof info['uid'] === 'string' ? { uid: info['uid'] } : {}),
      extra,
    },
    roles: field.texts(document, 'roles', ''),
    clusterRoles: field.texts(document, 'clusterRoles', ''),
  };
  if (problems.length > 0) throw new InputError(problems);
  return user;
}
