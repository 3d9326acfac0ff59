import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, becomes, startInBackground } from '../background.ts';
import { grant, revoke } from '../installation.ts';
import { configMap } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag, waitFor } from '../wait-for.ts';

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
  const appears = (name: string) => waitFor(() => exists(name), { what: `ConfigMap ${name} to appear` });
  const disappears = (name: string) =>
    waitFor(async () => !(await exists(name)), { what: `ConfigMap ${name} to disappear` });
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
        { what: 'the restored ConfigMap' },
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
        await becomes(kubectl.with(`--namespace=${name}`), 'configmap', 'made', () => true);
      }
      await kubectl.ok('delete', 'namespace', 'e2e-short-lived-a', 'e2e-short-lived-b', patienceFlag);
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
        { what: 'the event' },
      );
      expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    });
  });

  it('a number in a label or in data is written as a string', async () => {
    const loop = {
      list: "split(request.object.data.names, ',')",
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'typed-{{ elementIndex }}',
      namespace,
      data: { metadata: { labels: { index: '{{ elementIndex }}' } }, data: { port: 80 } },
    };
    const typed = policy('typed', {});
    const [rule] = (typed['spec'] as { rules: JsonObject[] }).rules;
    const foreach = [loop];
    const document = {
      ...typed,
      spec: { rules: [{ ...rule, generate: { synchronize: true, foreach } }] },
    };
    await withPolicies(kubectl, [document as unknown as JsonObject], async () => {
      await kubectl.sendOk('create', configMap('typed-trigger', { names: 'a,b' }));
      const made = await becomes(kubectl, 'configmap', 'typed-1', () => true);
      expect(made.metadata.labels).toMatchObject({ index: '1' });
      expect(made['data']).toEqual({ port: '80' });
    });
  });

  it('useServerSideApply keeps the fields of others and takes its own back', async () => {
    const document = policy('applied', { data: { data: { ours: 'yes' } } });
    const spec = { ...(document['spec'] as JsonObject), useServerSideApply: true };
    await withPolicies(kubectl, [{ ...document, spec }], async () => {
      await kubectl.sendOk('create', configMap('applied-a'));
      await appears('made-for-applied-a');
      await kubectl.ok(
        'patch',
        'configmap',
        'made-for-applied-a',
        '--type=merge',
        '--patch={"data":{"ours":"changed","theirs":"kept"}}',
      );
      const made = await becomes(
        kubectl,
        'configmap',
        'made-for-applied-a',
        ({ data }) => data.ours === 'yes',
      );
      expect(made['data']).toEqual({ ours: 'yes', theirs: 'kept' });
      const fields = JSON.parse(
        await kubectl.ok('get', 'configmap', 'made-for-applied-a', '--show-managed-fields', '-o', 'json'),
      ).metadata.managedFields as { manager: string; operation: string }[];
      expect(fields).toContainEqual(
        expect.objectContaining({ manager: 'kymera-background', operation: 'Apply' }),
      );
    });
  });

  it('a rule with another target name keeps the former object and warns', async () => {
    await withPolicies(kubectl, [policy('renamed', { name: 'first-name' })], async () => {
      await kubectl.sendOk('create', configMap('renamed-a'));
      await appears('first-name');
      const { stderr } = await kubectl.sendOk('apply', policy('renamed', { name: 'second-name' }));
      expect(stderr).toContain('rule renamed generates other objects than before');
      await appears('second-name');
      await kubectl.ok('label', 'configmap', 'renamed-a', 'touched=yes');
      await background.settled(30);
      expect(await exists('first-name')).toBe(true);
    });
  });

  it('a target that the API server does not serve is refused', async () => {
    const unknown = policy('unknown', { apiVersion: 'example.test/v1', kind: 'Moon' });
    const { code, stderr } = await kubectl.send('create', unknown);
    expect(code).not.toBe(0);
    expect(stderr).toContain('the API server does not serve example.test/v1/Moon');
  });

  it('without the permission to watch, changes are found by listing', async () => {
    const verbs = ['get', 'list', 'create', 'patch', 'delete'];
    const start = background.worker.output().length;
    await grant(background.own, 'background', 'e2e-limits', [
      { apiGroups: [''], resources: ['limitranges'], verbs },
    ]);
    const kind = { kind: 'LimitRange', data: { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } } };
    try {
      await waitFor(
        async () => {
          const { code, stderr } = await kubectl.send('apply', policy('listed', kind));
          if (code !== 0) throw new Error(stderr);
          expect(stderr).toMatch(/may not watch limitranges.*noticed only every 20 s/);
          return true;
        },
        { what: 'the policy to be accepted' },
      );
      await kubectl.ok('wait', '--for=condition=Ready', 'clusterpolicy/listed', patienceFlag);
      await kubectl.sendOk('create', configMap('listed-a'));
      const limit = async () => (await kubectl.run(['get', 'limitrange', 'made-for-listed-a'])).code === 0;
      await waitFor(limit, { what: 'the LimitRange' });
      await waitFor(() => /may not be watched/.test(background.worker.output().slice(start)), {
        what: 'the warning',
      });
      // The next list sees it, and the one after sees that it is gone.
      await new Promise((resolve) => setTimeout(resolve, 21_000));
      await kubectl.ok('delete', 'limitrange', 'made-for-listed-a');
      await waitFor(limit, { what: 'the restored LimitRange' });
      expect(
        background.worker
          .output()
          .slice(start)
          .match(/may not be watched/g),
      ).toHaveLength(1);
    } finally {
      await kubectl.run(['delete', 'clusterpolicy', 'listed', '--ignore-not-found']);
      await revoke(background.own, 'background', 'e2e-limits');
    }
  });

  it('a failed context entry is reported with its reason', async () => {
    const context = [{ name: 'nodes', apiCall: { urlPath: '/api/v1/nodes' } }];
    const document = policy(
      'reason',
      { data: { data: { nodes: '{{ nodes.items[0].metadata.name }}' } } },
      { context },
    );
    await withPolicies(kubectl, [document], async () => {
      await kubectl.sendOk('create', configMap('reason-a'));
      const expected = '/api/v1/nodes answered 403';
      await waitFor(
        async () =>
          (await background.updateRequests()).some(
            ({ spec, status }) => spec.policy === 'reason' && status?.message?.includes(expected),
          ),
        { what: 'the message' },
      );
      expect(background.worker.output()).toContain(expected);
    });
  });
});
