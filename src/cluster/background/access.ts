import { stringify } from 'yaml';
import { clusterRoleFor } from '../../background/access/cluster-role.ts';
import {
  contextAccess,
  type NeededAccess,
  neededAccess,
  triggerAccess,
} from '../../background/access/needed-access.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import type { KindTable } from '../api/discovery.ts';
import type { BackgroundIdentity } from './identity.ts';
import { describeAccess, lackingAccess } from './target-access.ts';

/** Permissions that the background controller lacks for a policy. */
export interface MissingAccess {
  readonly user: string;
  /** To write targets and generated objects: the policy cannot work without them. */
  readonly toAct: readonly NeededAccess[];
  /** To read triggers and context data: UpdateRequests that need them fail. */
  readonly toRead: readonly NeededAccess[];
}

export async function missingAccess(
  client: ApiClient,
  identity: BackgroundIdentity,
  policy: JsonObject,
  kinds: KindTable,
): Promise<MissingAccess> {
  const [toAct, toRead] = await Promise.all([
    lackingAccess(client, identity, unique(neededAccess(policy, kinds))),
    lackingAccess(
      client,
      identity,
      unique([...triggerAccess(policy, kinds), ...contextAccess(policy, kinds)]),
    ),
  ]);
  return { user: identity.user, toAct, toRead };
}

/** The missing ClusterRole, ready for kubectl apply. */
export function missingRole(policyKey: string, { toAct, toRead }: MissingAccess): string {
  const name = `kymera-background-${policyKey.replaceAll('/', '-')}`;
  const role = stringify(clusterRoleFor(name, [...toAct, ...toRead]), {
    lineWidth: 110,
    flowCollectionPadding: false,
  });
  return `add this role with kubectl apply:\n${role.trimEnd()}`;
}

/** `get secrets, update secrets in namespace x`. */
export function accessText(accesses: readonly NeededAccess[]): string {
  return [...new Set(accesses.map(describeAccess))].join(', ');
}

/** Removes duplicates. */
function unique(accesses: readonly NeededAccess[]): readonly NeededAccess[] {
  return [
    ...new Map(accesses.map((access) => [`${access.pointer} ${describeAccess(access)}`, access])).values(),
  ];
}
