import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { becomesTrue, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

suite('exceptions', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings, { args: ['--exception-namespace', namespace] });
  });
  after(async () => server.uninstall());

  const policy = labelPolicy(
    'excepted',
    'ConfigMap',
    { seen: 'yes' },
    { resources: { namespaces: [namespace] } },
  );
  const exception = (where: string, names: readonly string[]): JsonObject => ({
    apiVersion: 'kyverno.io/v2',
    kind: 'PolicyException',
    metadata: { name: 'let-it-be', namespace: where },
    spec: {
      exceptions: [{ policyName: 'excepted', ruleNames: ['excepted'] }],
      match: { any: [{ resources: { kinds: ['ConfigMap'], names: [...names] } }] },
    },
  });

  it('of a namespace that counts spare what they match, until they are deleted', async () => {
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.sendOk('apply', exception(namespace, ['special-*']));
      await becomesTrue(kubectl, 'the exception', configMap('special-1'), ({ metadata }) => !metadata.labels);
      const { stdout } = await kubectl.sendOk('create', configMap('ordinary'), '-o', 'json');
      expect(JSON.parse(stdout).metadata.labels).toEqual({ seen: 'yes' });
      await kubectl.ok('delete', 'policyexception', 'let-it-be');
      await becomesTrue(
        kubectl,
        'the end of the exception',
        configMap('special-1'),
        ({ metadata }) => !!metadata.labels,
      );
    });
  });

  it('of another namespace count for nothing', async () => {
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.run(['apply', '--namespace=default', '-f', '-'], {
        input: JSON.stringify(exception('default', ['*'])),
      });
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const { stdout } = await kubectl.sendOk('create', configMap('special-2'), '-o', 'json');
      expect(JSON.parse(stdout).metadata.labels).toEqual({ seen: 'yes' });
      await kubectl.run(['delete', '--namespace=default', 'policyexception', 'let-it-be']);
    });
  });
});
