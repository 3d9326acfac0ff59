import type { RequestUser, UserInfo } from '../../engine/request.ts';
import { namespaceOf } from '../../json/metadata.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

export type HeldRoles = Pick<RequestUser, 'roles' | 'clusterRoles'>;

interface Grant {
  readonly type: 'role' | 'clusterRole';
  /** `namespace:name` for a Role. */
  readonly name: string;
  /** A ClusterRole that a RoleBinding grants applies only to requests in that namespace. */
  readonly onlyIn?: string | undefined;
}

export interface RoleIndex {
  rolesOf(user: UserInfo, namespace: string): HeldRoles;
}

/** Finds the roles of a user in all bindings. Subjects are compared exactly. */
export function createRoleIndex(
  roleBindings: Iterable<JsonObject>,
  clusterRoleBindings: Iterable<JsonObject>,
): RoleIndex {
  const grants = new Map<string, Grant[]>();
  const add = (binding: JsonObject, grant: Grant) => {
    for (const subject of subjectsOf(binding)) {
      const list = grants.get(subject);
      if (list === undefined) grants.set(subject, [grant]);
      else list.push(grant);
    }
  };
  for (const binding of roleBindings) {
    const namespace = namespaceOf(binding);
    const { kind, name } = roleOf(binding);
    if (kind === 'Role') add(binding, { type: 'role', name: `${namespace}:${name}` });
    if (kind === 'ClusterRole') add(binding, { type: 'clusterRole', name, onlyIn: namespace });
  }
  for (const binding of clusterRoleBindings) {
    const { kind, name } = roleOf(binding);
    if (kind === 'ClusterRole') add(binding, { type: 'clusterRole', name });
  }
  return {
    rolesOf(user, namespace) {
      const held = [`User ${user.username}`, ...user.groups.map((group) => `Group ${group}`)]
        .flatMap((subject) => grants.get(subject) ?? [])
        .filter(({ onlyIn }) => onlyIn === undefined || onlyIn === namespace);
      const names = (type: Grant['type']) =>
        [...new Set(held.filter((grant) => grant.type === type).map(({ name }) => name))].sort();
      return { roles: names('role'), clusterRoles: names('clusterRole') };
    },
  };
}

/** The user name of a ServiceAccount. */
function subjectsOf(binding: JsonObject): readonly string[] {
  return readObjects(binding, 'subjects').map((subject) => {
    const name = readText(subject, 'name') ?? '';
    if (readText(subject, 'kind') !== 'ServiceAccount') return `${readText(subject, 'kind') ?? ''} ${name}`;
    return `User system:serviceaccount:${readText(subject, 'namespace') ?? namespaceOf(binding)}:${name}`;
  });
}

function roleOf(binding: JsonObject): { readonly kind: string; readonly name: string } {
  const reference = readObject(binding, 'roleRef') ?? {};
  return { kind: readText(reference, 'kind') ?? '', name: readText(reference, 'name') ?? '' };
}
