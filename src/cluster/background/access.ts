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
import { pollIntervalMs } from './generate-followers.ts';
import type { BackgroundIdentity } from './identity.ts';
import { describeAccess, lackingAccess } from './target-access.ts';

/** Permissions that the background controller lacks for a policy. */
export interface MissingAccess {
  readonly user: string;
  /** To write targets and generated objects: the policy cannot work without them. */
  readonly toAct: readonly NeededAccess[];
  /** To read triggers and context data: UpdateRequests that need them fail. */
  readonly toRead: readonly NeededAccess[];
  /** To watch generated objects: they are listed periodically instead. */
  readonly toWatch: readonly NeededAccess[];
}

export async function missingAccess(
  client: ApiClient,
  identity: BackgroundIdentity,
  policy: JsonObject,
  kinds: KindTable,
): Promise<MissingAccess> {
  const [toWrite, toRead] = await Promise.all([
    lackingAccess(client, identity, unique(neededAccess(policy, kinds))),
    lackingAccess(
      client,
      identity,
      unique([...triggerAccess(policy, kinds), ...contextAccess(policy, kinds)]),
    ),
  ]);
  const isWatch = ({ verb }: NeededAccess) => verb === 'watch';
  return {
    user: identity.user,
    toAct: toWrite.filter((access) => !isWatch(access)),
    toRead,
    toWatch: toWrite.filter(isWatch),
  };
}

/** What does not work, or works more slowly, without these permissions. */
export function accessWarnings({ user, toRead, toWatch }: MissingAccess): readonly string[] {
  const seconds = pollIntervalMs / 1_000;
  return [
    ...(toRead.length === 0 ? [] : [`'${user}' may not ${accessText(toRead)}`]),
    ...(toWatch.length === 0
      ? []
      : [`'${user}' may not ${accessText(toWatch)}, so changes are noticed only every ${seconds} s`]),
  ];
}

/** The missing ClusterRole, ready for kubectl apply. */
export function missingRole(policyKey: string, { toAct, toRead, toWatch }: MissingAccess): string {
  const name = `kymera-background-${policyKey.replaceAll('/', '-')}`;
  const role = stringify(clusterRoleFor(name, [...toAct, ...toRead, ...toWatch]), {
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
