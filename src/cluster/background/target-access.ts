import type { NeededAccess } from '../../background/access/needed-access.ts';
import { readObject } from '../../json/read-field.ts';
import type { ApiClient } from '../api/client.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { BackgroundIdentity } from './identity.ts';

/** The permissions that an identity lacks. */
export async function lackingAccess(
  client: ApiClient,
  identity: BackgroundIdentity,
  needed: readonly NeededAccess[],
): Promise<readonly NeededAccess[]> {
  const allowed = await Promise.all(needed.map((access) => isAllowed(client, identity, access)));
  return needed.filter((_, index) => allowed[index] !== true);
}

async function isAllowed(
  client: ApiClient,
  { user, groups }: BackgroundIdentity,
  { verb, group, resource, subresource, namespace }: NeededAccess,
): Promise<boolean> {
  const answer = await client.create(resourceTypes.subjectAccessReviews, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user,
      groups: [...groups],
      resourceAttributes: { verb, group, resource, subresource, namespace, version: '*' },
    },
  });
  return readObject(answer, 'status')?.['allowed'] === true;
}

export function describeAccess({ verb, group, resource, subresource, namespace }: NeededAccess): string {
  const name = `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  return `${verb} ${name}${namespace === '' ? '' : ` in namespace ${namespace}`}`;
}
