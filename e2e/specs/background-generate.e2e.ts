import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, becomes, startInBackground } from '../background.ts';
import { configMap } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

suite('generate rules', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  before(async () => {
    background = await startInBackground(settings, { args: ['--ttl', '600'] });
  });
  after(async () => background.uninstall());

  /** A synchronized rule that generates a ConfigMap for ConfigMaps with these names. */
  const policy = (name: string, generate: JsonObject, parts: JsonObject = {}): JsonObject => ({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name },
    spec: {
      rules: [
        {
          name,
          match: {
            any: [{ resources: { kinds: ['ConfigMap'], namespaces: [namespace], names: [`${name}-*`] } }],
          },
          generate: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: 'made-for-{{ request.object.metadata.name }}',
            namespace,
            synchronize: true,
            data: { data: { key: 'value' } },
            ...generate,
          },
          ...parts,
        },
      ],
    },
  });
  const exists = async (name: string) => (await kubectl.run(['get', 'configmap', name])).code === 0;
  const appears = (name: string) =>
    waitFor(() => exists(name), { what: `ConfigMap ${name} to appear`, seconds: 30 });
  const disappears = (name: string) =>
    waitFor(async () => !(await exists(name)), { what: `ConfigMap ${name} to disappear`, seconds: 30 });
  const requestsOf = async (name: string) =>
    (await background.updateRequests())
      .filter(({ spec }) => spec.policy === name)
      .map(({ metadata, spec, status }) => ({
        cause: metadata.annotations?.['kymera.io/cause'],
        trigger: spec.resource.name,
        state: status?.state,
      }));
  /** The log from here on, without expected entries. */
  const errorsSince = (start: number) =>
    background.worker
      .output()
      .slice(start)
      .split('\n')
      .filter((line) => /"level":(40|50|60)/.test(line) || /"level":"(warn|error|fatal)"/.test(line));

  it('an object stays deleted after its trigger stopped to meet the preconditions', async () => {
    const preconditions = {
      all: [
        { key: "{{ request.object.metadata.labels.wanted || 'yes' }}", operator: 'Equals', value: 'yes' },
      ],
    };
    await withPolicies(kubectl, [policy('withdrawn', {}, { preconditions })], async () => {
      await kubectl.sendOk('create', configMap('withdrawn-a'));
      await appears('made-for-withdrawn-a');
      await kubectl.ok('label', 'configmap', 'withdrawn-a', 'wanted=no');
      await disappears('made-for-withdrawn-a');
      // Deleting the object of another trigger restores it. Then a restoration of the first would have happened, too.
      await kubectl.sendOk('create', configMap('withdrawn-b'));
      await appears('made-for-withdrawn-b');
      const { uid } = (await kubectl.get('configmap', 'made-for-withdrawn-b')).metadata as { uid?: string };
      await kubectl.ok('delete', 'configmap', 'made-for-withdrawn-b');
      await waitFor(
        async () => {
          const found = await kubectl.run(['get', 'configmap', 'made-for-withdrawn-b', '-o', 'json']);
          return found.code === 0 && JSON.parse(found.stdout).metadata.uid !== uid;
        },
        { what: 'the restored ConfigMap', seconds: 30 },
      );
      expect(await exists('made-for-withdrawn-a')).toBe(false);
      const changes = (await requestsOf('withdrawn')).filter(({ cause }) => cause === 'change');
      expect(changes).toEqual([{ cause: 'change', trigger: 'withdrawn-b', state: 'Completed' }]);
    });
  });

  it('a namespace with synchronized objects is deleted without errors', async () => {
    const perNamespace = policy(
      'per-namespace',
      { name: 'made', namespace: '{{ request.object.metadata.name }}' },
      { match: { any: [{ resources: { kinds: ['Namespace'], names: ['e2e-short-lived-*'] } }] } },
    );
    await withPolicies(kubectl, [perNamespace], async () => {
      const start = background.worker.output().length;
      for (const name of ['e2e-short-lived-a', 'e2e-short-lived-b']) {
        await kubectl.ok('create', 'namespace', name);
        await becomes(kubectl.with(`--namespace=${name}`), 'configmap', 'made', () => true, 30);
      }
      await kubectl.ok('delete', 'namespace', 'e2e-short-lived-a', 'e2e-short-lived-b', '--timeout=60s');
      await background.settled(30);
      expect(errorsSince(start)).toEqual([]);
      const states = (await requestsOf('per-namespace')).map(({ state }) => state);
      expect(states).not.toContain('Failed');
    });
  });

  it('an event about a long message in another script is written', async () => {
    const message = '名'.repeat(900);
    const source = { clone: { name: 'does-not-exist', namespace }, data: undefined };
    const failing = policy('long-note', source as unknown as JsonObject, {
      preconditions: {
        all: [{ key: `{{ request.object.data."${message}" }}`, operator: 'Equals', value: 'x' }],
      },
    });
    await withPolicies(kubectl, [failing], async () => {
      await kubectl.sendOk('create', configMap('long-note-a', { other: 'x' }));
      const note = await waitFor(
        async () => {
          const events = await kubectl.list('events', '--namespace=default');
          return events.map(({ message: text }) => text as string).find((text) => text.includes('名名'));
        },
        { what: 'the event', seconds: 30 },
      );
      expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    });
  });
});
