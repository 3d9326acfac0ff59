import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { createRoleIndex } from './role-resolver.ts';

const user = (username: string, ...groups: readonly string[]) => ({ username, groups });

function binding(namespace: string | undefined, role: string, subjects: readonly JsonObject[]): JsonObject {
  const [kind = '', name = ''] = role.split('/');
  return {
    metadata: namespace === undefined ? { name: 'b' } : { name: 'b', namespace },
    roleRef: { kind, name },
    subjects: [...subjects],
  };
}

const ann = { kind: 'User', name: 'ann' };
const none = { roles: [], clusterRoles: [] };

describe('roles of a user', () => {
  it('come from RoleBindings of every namespace, with the namespace in their name', () => {
    const index = createRoleIndex([binding('a', 'Role/edit', [ann]), binding('b', 'Role/edit', [ann])], []);
    expect(index.rolesOf(user('ann'), 'c')).toEqual({ roles: ['a:edit', 'b:edit'], clusterRoles: [] });
  });

  it('are cluster roles in the namespace where one is bound, and nowhere else', () => {
    const index = createRoleIndex([binding('a', 'ClusterRole/edit', [ann])], []);
    expect(index.rolesOf(user('ann'), 'a')).toEqual({ roles: [], clusterRoles: ['edit'] });
    expect(index.rolesOf(user('ann'), 'b')).toEqual(none);
  });

  it('are cluster roles everywhere through a ClusterRoleBinding, each once', () => {
    const bindings = [
      binding(undefined, 'ClusterRole/view', [ann]),
      binding(undefined, 'ClusterRole/view', [{ kind: 'Group', name: 'dev' }]),
      binding(undefined, 'ClusterRole/admin', [ann]),
    ];
    expect(createRoleIndex([], bindings).rolesOf(user('ann', 'dev'), '')).toEqual({
      roles: [],
      clusterRoles: ['admin', 'view'],
    });
  });

  it('come from groups', () => {
    const index = createRoleIndex([binding('a', 'Role/edit', [{ kind: 'Group', name: 'dev' }])], []);
    expect(index.rolesOf(user('bob', 'dev'), 'a').roles).toEqual(['a:edit']);
    expect(index.rolesOf(user('dev'), 'a')).toEqual(none);
  });

  it('come from service accounts, whose namespace is that of the binding when none is given', () => {
    const index = createRoleIndex(
      [
        binding('a', 'Role/one', [{ kind: 'ServiceAccount', name: 'bot' }]),
        binding('a', 'Role/two', [{ kind: 'ServiceAccount', name: 'bot', namespace: 'b' }]),
      ],
      [],
    );
    expect(index.rolesOf(user('system:serviceaccount:a:bot'), 'a').roles).toEqual(['a:one']);
    expect(index.rolesOf(user('system:serviceaccount:b:bot'), 'a').roles).toEqual(['a:two']);
  });

  it('are exact: no wildcards in subjects', () => {
    const index = createRoleIndex([binding('a', 'Role/one', [{ kind: 'User', name: 'a*' }])], []);
    expect(index.rolesOf(user('ann'), 'a')).toEqual(none);
  });
});
