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

/** What the background may not do that a policy asks of it. */
export interface MissingAccess {
  readonly user: string;
  /** To what it changes and makes: without it the policy cannot work. */
  readonly toAct: readonly NeededAccess[];
  /** To triggers and context data: without it requests fail that have to read them. */
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

/** The ClusterRole that is missing, ready to be applied. */
export function missingRole(policyKey: string, { toAct, toRead }: MissingAccess): string {
  const name = `kymera-background-${policyKey.replaceAll('/', '-')}`;
  const role = stringify(clusterRoleFor(name, [...toAct, ...toRead]), {
    lineWidth: 110,
    flowCollectionPadding: false,
  });
  return `to be added, with kubectl apply:\n${role.trimEnd()}`;
}

/** `get secrets, update secrets in namespace x`. */
export function accessText(accesses: readonly NeededAccess[]): string {
  return [...new Set(accesses.map(describeAccess))].join(', ');
}

/** What several targets need is asked for once. */
function unique(accesses: readonly NeededAccess[]): readonly NeededAccess[] {
  return [
    ...new Map(accesses.map((access) => [`${access.pointer} ${describeAccess(access)}`, access])).values(),
  ];
}
