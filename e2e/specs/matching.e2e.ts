import { expect, it } from 'vitest';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import type { Kubectl } from '../kubectl.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { asUser } from '../users.ts';

suite('matching', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  let alice: Kubectl;
  let bob: Kubectl;
  before(async () => {
    server = await startClusterServer(settings);
    alice = await asUser(kubectl, settings, { name: 'alice', groups: ['developers'] });
    bob = await asUser(kubectl, settings, { name: 'bob' });
    await kubectl.ok('create', 'role', 'writer', '--verb=*', '--resource=configmaps');
    await kubectl.ok('create', 'rolebinding', 'alice-writes', '--role=writer', '--group=developers');
    await kubectl.ok('create', 'rolebinding', 'bob-edits', '--clusterrole=edit', '--user=bob');
    await kubectl.ok('create', 'serviceaccount', 'robot');
    await kubectl.ok(
      'create',
      'rolebinding',
      'robot-edits',
      '--clusterrole=edit',
      `--serviceaccount=${namespace}:robot`,
    );
  });
  after(async () => server.uninstall());

  const resources = { namespaces: [namespace] };
  const labelsOf = async (user: Kubectl, name: string, ...args: string[]) => {
    const { stdout } = await user.sendOk('create', configMap(name), '-o', 'json', ...args);
    return JSON.parse(stdout).metadata.labels;
  };

  it('by the labels of the namespace, as they are at that moment', async () => {
    const policy = labelPolicy(
      'by-namespace-label',
      'ConfigMap',
      { seen: 'yes' },
      {
        resources: { namespaceSelector: { matchLabels: { tier: 'gold' } } },
      },
    );
    await withPolicies(kubectl, [policy], async () => {
      expect(await labelsOf(kubectl, 'unlabelled')).toBeUndefined();
      await kubectl.ok('label', 'namespace', namespace, 'tier=gold');
      await expect.poll(() => labelsOf(kubectl, 'labelled', '--dry-run=server')).toEqual({ seen: 'yes' });
      await kubectl.ok('label', 'namespace', namespace, 'tier-');
    });
  });

  // Data of the requester is not available in the background.
  const spec = { background: false };

  it('by user, group and service account', async () => {
    const subjects = (name: string, ...list: { kind: string; name: string; namespace?: string }[]) =>
      labelPolicy(name, 'ConfigMap', { [name]: 'yes' }, { spec, resources, match: { subjects: list } });
    const policies = [
      subjects('user', { kind: 'User', name: 'alice' }),
      subjects('group', { kind: 'Group', name: 'developers' }),
      subjects('account', { kind: 'ServiceAccount', name: 'robot', namespace }),
    ];
    await withPolicies(kubectl, policies, async () => {
      expect(await labelsOf(alice, 'by-alice')).toEqual({ user: 'yes', group: 'yes' });
      expect(await labelsOf(bob, 'by-bob')).toBeUndefined();
      const robot = `--as=system:serviceaccount:${namespace}:robot`;
      expect(await labelsOf(kubectl, 'by-robot', robot)).toEqual({ account: 'yes' });
    });
  });

  it('by role and cluster role, which come from the bindings', async () => {
    const policies = [
      labelPolicy(
        'role',
        'ConfigMap',
        { role: 'yes' },
        { spec, resources, match: { roles: [`${namespace}:writer`] } },
      ),
      labelPolicy(
        'cluster-role',
        'ConfigMap',
        { clusterRole: 'yes' },
        { spec, resources, match: { clusterRoles: ['edit'] } },
      ),
    ];
    await withPolicies(kubectl, policies, async () => {
      expect(await labelsOf(alice, 'role-alice')).toEqual({ role: 'yes' });
      expect(await labelsOf(bob, 'role-bob')).toEqual({ clusterRole: 'yes' });
      await kubectl.ok('delete', 'rolebinding', 'bob-edits');
      await kubectl.ok('create', 'rolebinding', 'bob-writes', '--role=writer', '--user=bob');
      await expect.poll(() => labelsOf(bob, 'rebound', '--dry-run=server')).toEqual({ role: 'yes' });
    });
  });

  it('by what is excluded', async () => {
    const policy = labelPolicy(
      'all-but-alice',
      'ConfigMap',
      { seen: 'yes' },
      {
        spec,
        resources,
        exclude: { any: [{ subjects: [{ kind: 'User', name: 'alice' }] }] },
      },
    );
    await withPolicies(kubectl, [policy], async () => {
      expect(await labelsOf(alice, 'excluded')).toBeUndefined();
      expect(await labelsOf(kubectl, 'included')).toEqual({ seen: 'yes' });
    });
  });
});
