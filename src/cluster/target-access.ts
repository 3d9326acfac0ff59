import { usesVariables } from '../expression/template.ts';
import { hasWildcard } from '../expression/wildcard.ts';
import { type JsonObject, member } from '../json/value.ts';
import { parseKind } from '../policy/kind-selector.ts';
import { readObject, readObjects, readText } from '../policy/read-field.ts';
import type { BackgroundIdentity } from './background-identity.ts';
import type { ApiClient } from './client.ts';
import type { KindTable } from './discovery.ts';
import { resourceTypes } from './resource-path.ts';

/** Something that a rule for existing objects needs to be allowed. */
export interface NeededAccess {
  /** `/spec/rules/0/mutate/targets/1`. */
  readonly pointer: string;
  readonly verb: 'get' | 'list' | 'update';
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

const verbs = ['get', 'list', 'update'] as const;

/** What the targets of a policy need; kinds that depend on variables are checked when they are known. */
export function neededAccess(policy: JsonObject, kinds: KindTable): readonly NeededAccess[] {
  const own =
    readText(policy, 'kind') === 'Policy'
      ? readText(readObject(policy, 'metadata') ?? {}, 'namespace')
      : undefined;
  return readObjects(readObject(policy, 'spec') ?? {}, 'rules').flatMap((rule, ruleIndex) =>
    readObjects(readObject(rule, 'mutate') ?? {}, 'targets').flatMap((target, index) =>
      ofTarget(target, `/spec/rules/${ruleIndex}/mutate/targets/${index}`, own, kinds),
    ),
  );
}

function ofTarget(
  target: JsonObject,
  pointer: string,
  ownNamespace: string | undefined,
  kinds: KindTable,
): readonly NeededAccess[] {
  const apiVersion = readText(target, 'apiVersion') ?? '';
  const kind = readText(target, 'kind') ?? '';
  if (kind === '' || usesVariables(kind) || usesVariables(apiVersion)) return [];
  const parts = parseKind(apiVersion === '' ? kind : `${apiVersion}/${kind}`);
  if (parts === undefined || hasWildcard(parts.kind)) return [];
  const [group, version] = apiVersion.includes('/') ? [parts.group, parts.version] : ['', apiVersion];
  const served = kinds.resourceOf({
    kind: parts.kind,
    ...(apiVersion === '' || hasWildcard(group) ? {} : { group }),
    ...(apiVersion === '' || hasWildcard(version) ? {} : { version }),
  });
  if (served === undefined) return [];
  const namespace = namespaceOf(target, ownNamespace);
  const place = {
    pointer,
    group: served.group,
    resource: served.resource,
    namespace: served.namespaced ? namespace : '',
  };
  const ofParent = verbs.map((verb) => ({ ...place, verb, subresource: '' }));
  if (parts.subresource === '') return ofParent;
  const { subresource } = parts;
  return [
    ...ofParent.filter(({ verb }) => verb !== 'update'),
    ...(['get', 'update'] as const).map((verb) => ({ ...place, verb, subresource })),
  ];
}

function namespaceOf(target: JsonObject, own: string | undefined): string {
  if (own !== undefined) return own;
  const written = member(target, 'namespace');
  if (typeof written !== 'string' || usesVariables(written) || hasWildcard(written)) return '';
  return written;
}

/** The accesses that an identity lacks. */
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
