import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { kinds, policy, rule } from '../policies/policy.testing.ts';
import { mutatingConfiguration } from './configuration.ts';
import { triggerConfiguration } from './trigger-webhook.ts';

const settings = { target: { url: 'https://here', caBundle: 'x' }, namespace: 'kymera' };
const existing = (more: JsonObject = {}, match = kinds('ConfigMap')) =>
  rule(match, {
    mutate: {
      targets: [{ apiVersion: 'v1', kind: 'Secret', name: 's', namespace: 'ns' }],
      patchStrategicMerge: { metadata: { labels: { a: 'b' } } },
    },
    ...more,
  });
const generating = (synchronize: boolean) => ({
  name: 'make',
  match: kinds('Namespace'),
  generate: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'made',
    namespace: '{{ request.object.metadata.name }}',
    synchronize,
    data: { data: { a: 'b' } },
  },
});
const webhooksOf = (...policies: readonly CompiledPolicy[]) =>
  (triggerConfiguration(policies, smallCluster, settings).document?.['webhooks'] ??
    []) as readonly JsonObject[];
const asked = (webhook: JsonObject | undefined) =>
  ((webhook?.['rules'] ?? []) as readonly JsonObject[]).map(
    ({ resources, operations }) => `${(resources as string[]).join()} ${(operations as string[]).join()}`,
  );

describe('the webhook for triggers', () => {
  it('is not there without a rule that acts in the background', () => {
    expect(
      triggerConfiguration([policy('p', [rule(kinds('Pod'))])], smallCluster, settings).document,
    ).toBeUndefined();
  });

  it('covers the triggers of rules with targets, which the mutating one does not', () => {
    const [webhook, ...others] = webhooksOf(policy('p', [existing()]));
    expect(others).toEqual([]);
    expect(asked(webhook)).toEqual(['configmaps CREATE,UPDATE']);
    expect(webhook).toMatchObject({
      name: 'fail.validate.kymera.io',
      clientConfig: { url: 'https://here/validate/fail' },
      failurePolicy: 'Fail',
      sideEffects: 'NoneOnDryRun',
    });
    expect(
      mutatingConfiguration([policy('p', [existing()])], smallCluster, settings).document['webhooks'],
    ).toEqual([]);
  });

  it('covers DELETE and CONNECT only if they are listed', () => {
    const match = { any: [{ resources: { kinds: ['ConfigMap'], operations: ['DELETE'] } }] };
    expect(asked(webhooksOf(policy('p', [existing({}, match)]))[0])).toEqual(['configmaps DELETE']);
  });

  it('covers the deletion of triggers whose generated objects are synchronized', () => {
    expect(asked(webhooksOf(policy('p', [generating(true)]))[0])).toEqual([
      'namespaces CREATE,UPDATE,DELETE',
    ]);
    expect(asked(webhooksOf(policy('p', [generating(false)]))[0])).toEqual(['namespaces CREATE,UPDATE']);
  });

  it('keeps failure policies and namespaces apart, and gives a policy with conditions a path of its own', () => {
    const conditions = [{ name: 'c', expression: 'true' }];
    const webhooks = webhooksOf(
      policy('ignored', [existing()], { spec: { failurePolicy: 'Ignore' } }),
      policy('conditional', [existing()], {
        spec: { webhookConfiguration: { matchConditions: conditions } },
      }),
      policy('local', [existing()], { namespace: 'ns' }),
    );
    expect(webhooks.map(({ name, clientConfig }) => [name, (clientConfig as JsonObject)['url']])).toEqual([
      ['ignore.validate.kymera.io', 'https://here/validate/ignore'],
      ['ns.namespace.fail.validate.kymera.io', 'https://here/validate/fail'],
      [
        'conditional.cluster-policy.fail.validate.kymera.io',
        'https://here/validate/fail/finegrained/conditional',
      ],
    ]);
    expect(JSON.stringify(webhooks[1]?.['namespaceSelector'])).toContain('"In","values":["ns"]');
    expect(webhooks[2]?.['matchConditions']).toEqual(conditions);
  });

  it('names kinds that nothing serves', () => {
    const { unknownKinds } = triggerConfiguration(
      [policy('p', [existing({}, kinds('Unheard'))])],
      smallCluster,
      settings,
    );
    expect(unknownKinds.get('p')).toEqual(['Unheard']);
  });
});
