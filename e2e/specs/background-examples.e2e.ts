import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, becomes, startInBackground } from '../background.ts';
import { documentedPolicy } from '../documented-policies.ts';
import type { Kubectl } from '../kubectl.ts';
import { configMap, deployment } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const seed = (line: number) => documentedPolicy('seeds-003', `seed-reads-line-${line}`);
const secret = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { key: 'value' },
  ...more,
});
/** Long enough for a trigger to have had an effect. */
const meanwhile = () => sleep(1_500);

suite('documented rules for existing objects', ({ settings, kubectl, before, after }) => {
  let background: Background;
  const made: string[] = [];
  /** A namespace that the documentation speaks of. */
  const inNamespace = async (name: string): Promise<Kubectl> => {
    if (!made.includes(name)) {
      await kubectl.ok('create', 'namespace', name);
      made.push(name);
    }
    return kubectl.with(`--namespace=${name}`);
  };
  before(async () => {
    background = await startInBackground(settings, { args: ['--omit-events', 'none'] });
  });
  after(async () => {
    await background.uninstall();
    if (made.length > 0) await kubectl.ok('delete', 'namespace', ...made, '--wait=false');
  });

  it('a trigger labels a Secret; installing the policy does nothing', async () => {
    const staging = await inNamespace('staging');
    await staging.sendOk('create', [secret('secret-1'), configMap('dictionary-1')]);
    await withPolicies(kubectl, [seed(439).text], async () => {
      await meanwhile();
      expect((await staging.get('secret', 'secret-1')).metadata.labels).toBeUndefined();
      await staging.sendOk('apply', configMap('dictionary-2', { a: 'b' }));
      await staging.ok('patch', 'configmap', 'dictionary-1', '-p', '{"data":{"a":"b"}}');
      const labelled = await becomes(
        staging,
        'secret',
        'secret-1',
        ({ metadata }) => metadata.labels?.['foo'] === 'bar',
      );
      expect(labelled['data']).toEqual({ key: 'dmFsdWU=' });
    });
  });

  it('with mutateExistingOnPolicyUpdate, creating and changing the policy acts', async () => {
    const staging = await inNamespace('staging');
    await staging.sendOk('apply', [
      secret('secret-1', { metadata: { name: 'secret-1', labels: {} } }),
      configMap('dictionary-1'),
    ]);
    await staging.ok('label', 'secret', 'secret-1', 'foo-');
    const policy = (value: string) => ({
      ...seed(439).document,
      spec: {
        rules: [
          {
            ...(seed(439).document['spec'] as { rules: JsonObject[] }).rules[0],
            mutate: {
              ...((seed(439).document['spec'] as { rules: JsonObject[] }).rules[0]?.['mutate'] as JsonObject),
              mutateExistingOnPolicyUpdate: true,
              patchStrategicMerge: { metadata: { labels: { foo: value } } },
            },
          },
        ],
      },
    });
    await withPolicies(kubectl, [policy('created')], async () => {
      await becomes(staging, 'secret', 'secret-1', ({ metadata }) => metadata.labels?.['foo'] === 'created');
      await kubectl.sendOk('apply', policy('updated'));
      await becomes(staging, 'secret', 'secret-1', ({ metadata }) => metadata.labels?.['foo'] === 'updated');
    });
  });

  it('mutateExistingOnPolicyUpdate without targets is refused', async () => {
    const policy = {
      ...seed(439).document,
      spec: {
        rules: [
          {
            name: 'no-targets',
            match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
            mutate: {
              mutateExistingOnPolicyUpdate: true,
              patchStrategicMerge: { metadata: { labels: { a: 'b' } } },
            },
          },
        ],
      },
    };
    const answer = await kubectl.send('create', policy);
    expect(answer.code).toBe(1);
    expect(answer.stderr).toMatch(/targets has to be specified|targets/);
  });

  it('targets are selected by their labels', async () => {
    await kubectl.sendOk('create', [
      configMap('chosen', {}, { 'should-match': 'yes' }),
      configMap('not-chosen', {}, { 'should-match': 'no' }),
      configMap('without', {}),
    ]);
    await withPolicies(kubectl, [seed(507).text], async () => {
      await kubectl.sendOk('create', secret('any'));
      await becomes(kubectl, 'configmap', 'chosen', ({ metadata }) => metadata.labels?.['foo'] === 'bar');
      await background.settled();
      expect((await kubectl.get('configmap', 'not-chosen')).metadata.labels?.['foo']).toBeUndefined();
      expect((await kubectl.get('configmap', 'without')).metadata.labels).toBeUndefined();
    });
  });

  it('preconditions and anchors of targets choose among Deployments', async () => {
    const using = (name: string, secretName: string) =>
      deployment(name, {
        containers: [
          {
            name: 'main',
            image: 'example.test/app:1.0',
            env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: secretName, key: 'key' } } }],
          },
        ],
      });
    await kubectl.sendOk('create', [
      secret('watched', { metadata: { name: 'watched', labels: { 'kyverno.io/watch': 'true' } } }),
      using('testing-a', 'watched'),
      using('testing-b', 'other'),
      using('other', 'watched'),
    ]);
    await withPolicies(kubectl, [seed(537).text], async () => {
      await kubectl.ok('patch', 'secret', 'watched', '-p', '{"stringData":{"key":"new"}}');
      const restarted = await becomes(
        kubectl,
        'deployment',
        'testing-a',
        ({ spec }) => spec.template.metadata.annotations?.['corp.org/random'] !== undefined,
      );
      expect(restarted['spec'].template.metadata.annotations['corp.org/random']).toMatch(/^[0-9a-z]{8}$/);
      await background.settled();
      for (const name of ['testing-b', 'other'])
        expect((await kubectl.get('deployment', name))['spec'].template.metadata.annotations).toBeUndefined();
    });
  });

  it('a Policy acts on create and update; on delete where it lists it', async () => {
    const example = await inNamespace('example');
    const modified = async () =>
      (await example.get('configmap', 'example')).metadata.labels?.['modified-by-kyverno'];
    const isModified = ({ metadata }: { metadata: { labels?: Readonly<Record<string, string>> } }) =>
      metadata.labels?.['modified-by-kyverno'] === 'true';
    await example.sendOk('create', configMap('example', {}, { kept: 'yes' }));
    await withPolicies(example, [seed(590).text], async () => {
      await example.sendOk('create', deployment('first'));
      await becomes(example, 'configmap', 'example', isModified);
      await example.ok('label', 'configmap', 'example', 'modified-by-kyverno-');
      await example.ok('annotate', 'deployment', 'first', 'updated=yes');
      await becomes(example, 'configmap', 'example', isModified);
      // The controller of the Deployment updates it, too.
      await example.ok('scale', 'deployment', 'first', '--replicas=0');
      await background.settled();
      await meanwhile();
      await example.ok('label', 'configmap', 'example', 'modified-by-kyverno-');
      await example.ok('delete', 'deployment', 'first');
      await meanwhile();
      expect(await modified()).toBeUndefined();
    });
    await withPolicies(example, [seed(618).text], async () => {
      await example.sendOk('create', deployment('second'));
      await meanwhile();
      expect(await modified()).toBeUndefined();
      await example.ok('delete', 'deployment', 'second');
      await becomes(example, 'configmap', 'example', isModified);
    });
  });

  it('a Policy whose target is in another namespace is refused', async () => {
    const answer = await kubectl.send('create', seed(590).text);
    expect(answer.code).toBe(1);
    expect(answer.stderr).toMatch(/denied the request: .*namespace/s);
  });

  it.each([
    [653, 'in a label', (name: string) => ({ labels: { env: `value-${name}` } })],
    [691, 'in its place', (name: string) => ({ data: { key: `value-${name}`, keynew: `one-old-${name}` } })],
  ] as const)('each target has its own values (line %i: %s)', async (line, _, expected) => {
    const [foo, bar] = [await inNamespace('foo'), await inNamespace('bar')];
    for (const name of ['cmtwo', 'cmthree'])
      await bar.sendOk(
        'apply',
        configMap(name, { key: `value-${name}`, keynew: `old-${name}` }, { there: 'yes' }),
      );
    await foo.run(['delete', 'configmap', 'cmone', '--ignore-not-found']);
    await withPolicies(kubectl, [seed(line).text], async () => {
      await foo.sendOk('create', configMap('cmone', { keyone: 'one' }));
      for (const name of ['cmtwo', 'cmthree']) {
        const wanted = expected(name);
        await becomes(bar, 'configmap', name, ({ metadata, data }) =>
          'labels' in wanted
            ? metadata.labels?.['env'] === wanted.labels.env
            : data.keynew === wanted.data.keynew,
        );
      }
    });
  });

  it('events and columns show what happened', async () => {
    const staging = await inNamespace('staging');
    await staging.run(['label', 'secret', 'secret-1', 'foo-']);
    await withPolicies(kubectl, [seed(439).text], async () => {
      await staging.ok('patch', 'configmap', 'dictionary-1', '-p', '{"data":{"told":"yes"}}');
      await becomes(staging, 'secret', 'secret-1', ({ metadata }) => metadata.labels?.['foo'] === 'bar');
      await background.settled();
      const [heading = '', ...rows] = (await background.own.ok('get', 'ur')).trim().split('\n');
      expect(heading.split(/\s+/)).toEqual([
        'NAME',
        'POLICY',
        'RULETYPE',
        'RESOURCEKIND',
        'RESOURCENAME',
        'RESOURCENAMESPACE',
        'STATUS',
        'AGE',
      ]);
      const row = rows.find((text) =>
        /mutate-existing-secret\s+mutate\s+ConfigMap\s+dictionary-1\s+staging/.test(text),
      );
      expect(row).toMatch(/^ur-[0-9a-f]+ .* Completed\s+\d+s$/);
      const noteOn = async (kind: string) => {
        const events = await staging.with('--all-namespaces').list('events');
        const own = events.filter(
          ({ reason, involvedObject }) => reason === 'PolicyApplied' && involvedObject.kind === kind,
        );
        return own.map(({ message, reportingComponent }) => `${reportingComponent}: ${message}`);
      };
      await expect
        .poll(() => noteOn('Secret'))
        .toContain(
          'kymera-background: policy mutate-existing-secret/mutate-secret-on-configmap-event applied',
        );
      expect(await noteOn('ClusterPolicy')).toContain(
        'kymera-background: Secret staging/secret-1 is successfully mutated',
      );
    });
  });

  it('a clone is generated, labelled on the way, and follows its source', async () => {
    const origin = kubectl.with('--namespace=default');
    await origin.sendOk('apply', secret('regcred'));
    await withPolicies(kubectl, [seed(898).text], async () => {
      const team = await inNamespace('e2e-team');
      const clone = await becomes(
        team,
        'secret',
        'regcred',
        ({ metadata }) => metadata.labels?.['foo'] === 'bar',
      );
      expect(clone['data']).toEqual({ key: 'dmFsdWU=' });
      await origin.ok('patch', 'secret', 'regcred', '-p', '{"stringData":{"key":"other"}}');
      await becomes(team, 'secret', 'regcred', ({ data }) => data.key === 'b3RoZXI=');
      await team.ok('delete', 'secret', 'regcred');
      await becomes(team, 'secret', 'regcred', ({ data }) => data.key === 'b3RoZXI=');
    });
    const team = await inNamespace('e2e-team');
    await waitFor(async () => (await team.run(['get', 'secret', 'regcred'])).code !== 0, {
      what: 'the clone to go with its policy',
    });
    await origin.ok('delete', 'secret', 'regcred');
  });

  it('a generated object triggers a mutateExisting rule, once', async () => {
    await withPolicies(kubectl, [seed(939).text], async () => {
      const made = await inNamespace('e2e-made');
      const { metadata } = await becomes(
        kubectl,
        'namespace',
        'e2e-made',
        ({ metadata: { labels } }) => labels?.['custom/namespace-ready'] === 'true',
      );
      expect((await made.get('configmap', 'somecustomcm'))['data']).toEqual({ key: 'value' });
      await meanwhile();
      expect((await kubectl.get('namespace', 'e2e-made')).metadata.resourceVersion).toBe(
        metadata.resourceVersion,
      );
    });
  });
});
