import { expect } from 'vitest';
import { inParallel } from '../api-proxy.ts';
import type { BackgroundProcess } from '../background-process.ts';
import type { ReplicaOptions } from '../cluster-server.ts';
import { configMap, labelPolicy, mergePolicy } from '../objects.ts';
import { applyPolicies, withPolicies } from '../policies-in-force.ts';
import { waitFor } from '../wait-for.ts';
import { changedAndBack } from './control-plane.ts';
import {
  type Fault,
  type FaultWorld,
  longForm,
  outputSince,
  type Reviews,
  secondsOf,
  underLoad,
} from './fault.ts';
import { formerCommit, formerVersion } from './former-version.ts';

export const lostAtKills =
  'No object is stored unchanged. Not more reviews are lost than connections to a killed replica broke, and none after four further answers of each client.';

/** Faults of our own processes. */
export const killedProcesses: readonly Fault[] = [
  {
    name: 'a replica is killed under load (kill -9)',
    promise:
      'At most one review per connection to it is lost, only at the kill, and no object is stored unchanged.',
    assertion: lostAtKills,
    async run(world) {
      const [replica = 0] = [...world.replicas].filter((each) => each !== leaderOf(world));
      const counts = await underLoad(world, (load) => killUnderLoad(world, load, replica));
      await replace(world);
      const { sent: reviews, lost, recoverySeconds } = counts;
      return { reviews, lost, recoverySeconds };
    },
  },
  {
    name: 'the leader is killed (kill -9)',
    promise:
      'Another replica leads when the Lease has expired, and new policies take effect. Reviews go on meanwhile; at most one per connection to the killed one is lost, only at the kill.',
    assertion: `${lostAtKills} A policy that is created after the kill is in effect, and exactly one replica became the leader.`,
    async run(world) {
      const { kubectl, namespace } = world;
      const late = labelPolicy(
        'faults-late',
        'ConfigMap',
        { late: 'yes' },
        { resources: { namespaces: [namespace] } },
      );
      let recoverySeconds = 0;
      const { sent: reviews, lost } = await underLoad(world, async (load) => {
        const isLeader = outputSince(world, /"became the leader"/);
        recoverySeconds = await secondsOf(async () => {
          await killUnderLoad(world, load, leaderOf(world));
          await applyPolicies(kubectl, [late]);
        });
        expect([...world.replicas].filter(isLeader), 'replicas that became the leader').toHaveLength(1);
      });
      await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'faults-late');
      await replace(world);
      return { reviews, lost, recoverySeconds };
    },
  },
  {
    name: 'the background controller is killed while it processes UpdateRequests (kill -9)',
    promise:
      'Another one continues. Every trigger has its effect; only those under way at the kill may run twice.',
    assertion:
      'Some targets are not done at the kill. Then all have the change, and at most 10 have it twice.',
    run: backgroundKilled,
  },
  {
    name: 'two versions run at once, and each of them leads for a while',
    promise:
      'No object is stored unchanged, and policies that change take effect under either leader. At most one review per connection to a killed replica is lost, only at the kill.',
    assertion: `${lostAtKills} Each version becomes the leader when the other one is killed; then a policy is changed twice, and each change is in effect in every replica.`,
    isLong: true,
    missing: () => formerVersion().missing,
    async run(world) {
      const { server, replicas } = world;
      const { program } = formerVersion();
      let recoverySeconds = 0;
      const { sent: reviews, lost } = await underLoad(world, async (load) => {
        await server.addReplica({ program });
        const former = server.ports().length - 1;
        for (const replica of [...replicas]) await killUnderLoad(world, load, replica);
        replicas.add(former);
        const leads = (replica: number) =>
          waitFor(() => server.output(replica).includes('"became the leader"'), {
            what: `replica ${replica} to lead`,
          });
        const underFormer = await secondsOf(async () => {
          await leads(former);
          await changedAndBack(world);
        });
        await replace(world);
        const current = server.ports().length - 1;
        await killUnderLoad(world, load, former);
        const underCurrent = await secondsOf(async () => {
          await leads(current);
          await changedAndBack(world);
        });
        recoverySeconds = Math.max(underFormer, underCurrent);
      });
      while (replicas.size < 3) await replace(world);
      return { reviews, lost, recoverySeconds, note: `this version and ${formerCommit}` };
    },
  },
];

async function backgroundKilled(world: FaultWorld) {
  const { api, kubectl, namespace, size, workers } = world;
  const itself = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: '{{ request.object.metadata.name }}',
    namespace,
  };
  const target = mergePolicy(
    'faults-targets',
    'ConfigMap',
    {},
    {
      resources: { namespaces: [namespace], names: ['target-*'] },
      rule: {
        mutate: {
          targets: [itself],
          patchesJson6902: '- {op: add, path: /data/runs, value: "{{ target.data.runs }}x"}',
        },
        preconditions: { all: [{ key: '{{ request.operation }}', operator: 'Equals', value: 'CREATE' }] },
      },
    },
  );
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const names = Array.from({ length: size.updateRequests }, (_, index) => `target-${index}`);
  const runs = async () => {
    const { body } = await api.send('GET', path);
    const items = body.items as { metadata: { name: string }; data?: { runs?: string } }[];
    return items
      .filter(({ metadata }) => metadata.name.startsWith('target-'))
      .map(({ data }) => data?.runs ?? '');
  };
  const done = async () => (await runs()).filter((text) => text !== '').length;
  return withPolicies(kubectl, [target], async () => {
    await inParallel(names, 16, async (name) => {
      await api.send('POST', path, configMap(name, { runs: '' }));
    });
    await waitFor(async () => (await done()) >= names.length / 20, {
      what: 'the first targets',
      everyMs: 20,
    });
    const leader = workers.find(isLeader) ?? workers[0];
    leader?.kill();
    const atKill = await done();
    const recoverySeconds = await secondsOf(() =>
      waitFor(async () => (await done()) === names.length, {
        what: 'all targets',
        seconds: 600,
        everyMs: 200,
      }),
    );
    // Of a few, all may be done by the time of the kill.
    if (names.length >= longForm.updateRequests) expect(atKill).toBeLessThan(names.length);
    // A write that was under way when the process was killed may be repeated; the guard by resourceVersion bounds it.
    const repeated = (await runs()).filter((text) => text.length > 1).length;
    expect(repeated).toBeLessThanOrEqual(10);
    if (leader !== undefined) workers.splice(workers.indexOf(leader), 1);
    await world.startWorker();
    await api.send('DELETE', `${path}?labelSelector=${encodeURIComponent('!kept')}`);
    return {
      recoverySeconds,
      note: `${names.length} UpdateRequests, none lost, ${atKill} done at the kill, ${repeated} targets written twice`,
    };
  });
}

function isLeader(worker: BackgroundProcess): boolean {
  return /became the leader of the background/.test(worker.output());
}

/** The replica that became the leader last. */
function leaderOf({ server, replicas }: FaultWorld): number {
  const times = [...replicas].map((replica) => {
    const lines = server
      .output(replica)
      .split('\n')
      .filter((line) => line.includes('"became the leader"'));
    return { replica, at: /"time":"([^"]+)"/.exec(lines.at(-1) ?? '')?.[1] ?? '' };
  });
  return times.toSorted((left, right) => (left.at < right.at ? 1 : -1))[0]?.replica ?? 0;
}

export async function kill({ server, replicas }: FaultWorld, replica: number): Promise<void> {
  await server.kill(replica);
  replicas.delete(replica);
}

/**
 * Each connection to the replica breaks once. With it, a request under way is lost, or one that the API server sends
 * before it notices: it does not repeat a POST. When it has noticed, nothing more is lost.
 */
export function killUnderLoad(world: FaultWorld, load: Reviews, replica: number): Promise<void> {
  return load.losing(
    () => kill(world, replica),
    () => world.server.brokenConnections(replica),
  );
}

export async function replace({ server, replicas }: FaultWorld, options?: ReplicaOptions): Promise<void> {
  await server.addReplica(options);
  replicas.add(server.ports().length - 1);
}
