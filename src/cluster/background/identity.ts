import { readObject, readText } from '../../json/read-field.ts';
import { isArray } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { resourceTypes } from '../api/resource-path.ts';

/** The user that runs mutateExisting and generate rules. */
export interface BackgroundIdentity {
  readonly user: string;
  readonly groups: readonly string[];
}

/** The user name and groups of a ServiceAccount. */
export function serviceAccountIdentity(user: string): BackgroundIdentity {
  const namespace = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user)?.[1];
  if (namespace === undefined) return { user, groups: ['system:authenticated'] };
  return {
    user,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

/** Asks the API server for the user of a client. */
export async function ownIdentity(client: ApiClient): Promise<BackgroundIdentity> {
  const answer = await client.create(resourceTypes.selfSubjectReviews, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  });
  const user = readObject(readObject(answer, 'status') ?? {}, 'userInfo') ?? {};
  const groups = user['groups'];
  return {
    user: readText(user, 'username') ?? '',
    groups: isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}
