import { expect } from 'vitest';
import { equal } from '../../src/json/equal.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { installCustomResources, removeCustomResources } from '../custom-resources.ts';
import { installIdentities } from '../installation.ts';
import type { Answer } from '../kubectl.ts';
import { configMap, mergePolicy } from '../objects.ts';
import { applyPolicies, withPolicies } from '../policies-in-force.ts';
import { writeToken } from '../token-kubeconfig.ts';
import { GiveUp, waitFor } from '../wait-for.ts';
import { changedAndBack, changedTwice, nothingLost, policyWith } from './control-plane.ts';
import { configuration, type Fault, hasLabel, outputSince, secondsOf, underLoad } from './fault.ts';

/** Faults of objects that we depend on. */
export const editedObjects: readonly Fault[] = [
  {
    name: 'the webhook configuration is edited by hand, and deleted',
    promise: 'The leader restores it. No review is lost; objects pass unchanged until then.',
    assertion:
      'No review is lost. The rules are as before, and every replica adds the label, after the edit and after the deletion.',
    async run(world) {
      const { kubectl } = world;
      const kind = 'mutatingwebhookconfiguration';
      const rules = async () =>
        (await kubectl.get(kind, configuration))['webhooks'].map((webhook: JsonObject) => webhook['rules']);
      const expected = await rules();
      const restored = async () => {
        await waitFor(async () => equal(await rules(), expected), { what: 'the rules' });
        await hasLabel(world, 'yes');
      };
      const patch = '[{"op": "replace", "path": "/webhooks/0/rules", "value": []}]';
      let edited = 0;
      let deleted = 0;
      const { sent, lost, unchanged } = await underLoad(
        world,
        async () => {
          edited = await secondsOf(async () => {
            await kubectl.ok('patch', kind, configuration, '--type=json', `--patch=${patch}`);
            await restored();
          });
          deleted = await secondsOf(async () => {
            await kubectl.ok('delete', kind, configuration);
            await restored();
          });
        },
        { mayBeUnchanged: true },
      );
      return {
        reviews: sent,
        lost,
        recoverySeconds: Math.max(edited, deleted),
        note: `edited: ${edited.toFixed(1)} s, deleted: ${deleted.toFixed(1)} s; ${unchanged} objects passed unchanged`,
      };
    },
  },
  {
    name: 'a ConfigMap that a policy reads is deleted and created again',
    promise:
      'Without it, requests are denied with the reason; none is stored unchanged. With it, they pass again.',
    assertion:
      'A request has the label, or is denied because the ConfigMap does not exist. With the ConfigMap, it has the label again. Reviews for other policies: none is lost and no object is stored unchanged.',
    async run(world) {
      const { kubectl, namespace } = world;
      const reading = mergePolicy(
        'faults-context',
        'Secret',
        { metadata: { labels: { team: '{{ settings.data.team }}' } } },
        {
          resources: { namespaces: [namespace] },
          rule: { context: [{ name: 'settings', configMap: { name: 'settings', namespace } }] },
        },
      );
      const create = () =>
        kubectl.run(['create', 'secret', 'generic', 'reader', '--dry-run=server', '-o', 'json']);
      const teamIn = ({ stdout }: Answer) => JSON.parse(stdout).metadata.labels?.team;
      const team = async () => {
        const answer = await create();
        return answer.code === 0 && teamIn(answer) === 'red';
      };
      const settings = configMap('settings', { team: 'red' });
      await kubectl.sendOk('create', settings);
      let recoverySeconds = 0;
      const fault = async () => {
        await waitFor(team, { what: 'the label' });
        await kubectl.ok('delete', 'configmap', 'settings');
        const denied = await waitFor(
          async () => {
            const answer = await create();
            if (answer.code !== 0) return answer;
            // From memory, until the replicas hear of the deletion.
            if (teamIn(answer) !== 'red') throw new GiveUp('the object was stored unchanged');
            return undefined;
          },
          { what: 'the denial' },
        );
        expect(denied.stderr).toContain('the ConfigMap does not exist');
        recoverySeconds = await secondsOf(async () => {
          await kubectl.sendOk('create', settings);
          await waitFor(team, { what: 'the label' });
        });
      };
      const { sent, lost } = await withPolicies(kubectl, [reading], () => underLoad(world, fault));
      await kubectl.ok('delete', 'configmap', 'settings');
      return { reviews: sent, lost, recoverySeconds, note: 'reviews for another policy' };
    },
  },
  {
    name: 'the API server rejects the token of all replicas, until it is replaced',
    promise:
      'No review is lost: policies stay in effect from memory. With a new token, changed policies take effect.',
    assertion: `Every replica logs that its token is refused. ${nothingLost} ${changedTwice}`,
    async run(world) {
      const { kubectl, server, settings } = world;
      const own = kubectl.with(`--namespace=${server.namespace}`);
      let recoverySeconds = 0;
      const isRefused = outputSince(world, /Unauthorized/);
      const { sent: reviews, lost } = await underLoad(world, async () => {
        await own.ok('delete', 'serviceaccount', 'kymera-admission');
        await installIdentities(settings);
        // The API server remembers a valid token for some seconds.
        await waitFor(
          () => {
            world.connection.cut();
            return [...world.replicas].every(isRefused);
          },
          { what: 'the old token to be rejected', everyMs: 500 },
        );
        writeToken(world.tokenFile, await own.ok('create', 'token', 'kymera-admission', '--duration=2h'));
        recoverySeconds = await secondsOf(() => changedAndBack(world));
      });
      return { reviews, lost, recoverySeconds };
    },
  },
  {
    name: 'the ConfigMap with the progress of the background controller is deleted',
    promise: 'Triggers have their effect as before.',
    assertion: `The next trigger after the deletion changes its target. ${nothingLost}`,
    async run(world) {
      const { kubectl, namespace, server } = world;
      const own = kubectl.with(`--namespace=${server.namespace}`);
      const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'progress', namespace };
      const counting = mergePolicy(
        'faults-progress',
        'ConfigMap',
        {},
        {
          resources: { namespaces: [namespace], names: ['progress-*'] },
          rule: {
            mutate: {
              mutateExistingOnPolicyUpdate: true,
              targets: [target],
              patchesJson6902:
                '- {op: add, path: /data/runs, value: "{{ target.data.runs }} {{ request.object.metadata.name }}"}',
            },
          },
        },
      );
      const hasRun = async (name: string) =>
        String((await kubectl.get('configmap', 'progress'))['data'].runs)
          .split(' ')
          .includes(name);
      await kubectl.sendOk('create', [configMap('progress', { runs: '' }), configMap('progress-a')]);
      return withPolicies(kubectl, [counting], async () => {
        await waitFor(() => hasRun('progress-a'), { what: 'the run for the policy' });
        // The API server calls a webhook some time after it was registered.
        const known: string[] = [];
        await waitFor(
          async () => {
            known.push(`progress-known-${known.length}`);
            await kubectl.sendOk('create', configMap(known.at(-1) ?? ''));
            return (await Promise.all(known.map(hasRun))).includes(true);
          },
          { what: 'a run for a trigger', everyMs: 500 },
        );
        let recoverySeconds = 0;
        const { sent, lost } = await underLoad(world, async () => {
          recoverySeconds = await secondsOf(async () => {
            await own.ok('delete', 'configmap', 'kymera-background');
            await kubectl.sendOk('create', configMap('progress-b'));
            await waitFor(() => hasRun('progress-b'), { what: 'the run for the next trigger' });
          });
        });
        await kubectl.ok('delete', 'configmap', 'progress', 'progress-a', 'progress-b', ...known);
        return { reviews: sent, lost, recoverySeconds };
      });
    },
  },
  {
    name: 'the CustomResourceDefinition of policies is deleted and created again',
    promise:
      'Without policies, requests pass unchanged: the cluster is not locked. Policies that are created again take effect.',
    assertion:
      'No review is lost. Objects pass without the label when the definition is gone, and have it when the policy is there again.',
    async run(world) {
      const { kubectl, namespace } = world;
      let recoverySeconds = 0;
      const fault = async () => {
        await removeCustomResources(kubectl, ['clusterpolicies.kyverno.io']);
        await hasLabel(world, undefined);
        recoverySeconds = await secondsOf(async () => {
          await installCustomResources(kubectl);
          await waitFor(() => applyPolicies(kubectl, [policyWith(namespace, 'yes')]).then(() => true), {
            what: 'the policy',
          });
          await hasLabel(world, 'yes');
        });
      };
      const { sent, lost, unchanged } = await underLoad(world, fault, { mayBeUnchanged: true });
      return {
        reviews: sent,
        lost,
        recoverySeconds,
        note: `${unchanged} objects passed unchanged without the policy`,
      };
    },
  },
];
