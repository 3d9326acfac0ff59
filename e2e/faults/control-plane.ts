import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { restartProgram, restartPrograms } from '../control-plane/start.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { applyPolicies, becomesTrue, withPolicies } from '../policies-in-force.ts';
import { type Fault, type FaultWorld, hasLabel, label, secondsOf, underLoad } from './fault.ts';

/** What the rows below say about the load, and about policies. */
export const nothingLost = 'No review is lost and no object is stored unchanged.';
export const changedTwice = 'A policy is changed twice, and each change is in effect in every replica.';

/** Faults of the API server, of etcd and of the connection to them. */
export const controlPlaneFaults: readonly Fault[] = [
  {
    name: 'the API server is killed (kill -9) and comes back',
    promise:
      'No review is lost and no object is stored unchanged. Policies that change afterwards take effect.',
    assertion: `${nothingLost} ${changedTwice}`,
    run: (world) => outage(world, () => restartProgram(world.folder, 'kube-apiserver', 'SIGKILL', 1_000)),
  },
  {
    name: 'etcd is killed (kill -9) and comes back',
    promise:
      'No review is lost and no object is stored unchanged. Policies that change afterwards take effect.',
    assertion: `${nothingLost} ${changedTwice}`,
    run: (world) => outage(world, () => restartProgram(world.folder, 'etcd', 'SIGKILL', 2_000)),
  },
  {
    name: 'etcd is restored from an older snapshot',
    promise:
      'The policies of the snapshot are in effect again, those that are newer are not, and no object is stored unchanged.',
    assertion: `${nothingLost} The changed policy has its former value in every replica, the newer one has no effect. ${changedTwice}`,
    isLong: true,
    async run(world) {
      const { folder, kubectl, namespace } = world;
      const data = join(folder, 'etcd');
      const snapshot = join(folder, 'etcd-snapshot');
      await restartPrograms(folder, () => cpSync(data, snapshot, { recursive: true }));
      const newer = labelPolicy('faults-newer', 'ConfigMap', { newer: 'yes' });
      await applyPolicies(kubectl, [newer, policyWith(namespace, 'newer')]);
      await hasLabel(world, 'newer');
      let recoverySeconds = 0;
      const { sent: reviews, lost } = await underLoad(world, async () => {
        await restartPrograms(folder, () => {
          rmSync(data, { recursive: true });
          cpSync(snapshot, data, { recursive: true });
        });
        recoverySeconds = await secondsOf(async () => {
          await hasLabel(world, 'yes');
          await becomesTrue(
            kubectl,
            'the newer policy is gone',
            configMap('probe'),
            ({ metadata }) => metadata.labels?.['newer'] === undefined,
          );
        });
        await changedAndBack(world);
      });
      return { reviews, lost, recoverySeconds };
    },
  },
  {
    name: 'all connections to the API server are closed, again and again',
    promise: 'No review is lost. A policy that changes in the meantime takes effect.',
    assertion: `${nothingLost} ${changedTwice}`,
    async run(world) {
      let recoverySeconds = 0;
      const { sent: reviews, lost } = await underLoad(world, async () => {
        for (let count = 0; count < 20; count += 1) {
          world.connection.cut();
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        recoverySeconds = await secondsOf(() => changedAndBack(world));
      });
      return { reviews, lost, recoverySeconds, note: '20 times, 100 ms apart' };
    },
  },
  {
    name: 'watches break off, and the API server has forgotten the past when they go on (410 Gone)',
    promise: 'No review is lost. Everything is listed again, and what changed in the meantime takes effect.',
    assertion: `${nothingLost} The value that was set while watches were blocked is in effect in every replica. The audit log has a list of policies by each replica.`,
    async run(world) {
      const { connection, folder, replicas } = world;
      let recoverySeconds = 0;
      const listedBefore = policyLists(folder);
      const { sent: reviews, lost } = await underLoad(world, async () => {
        connection.block(true);
        try {
          await setLabel(world, 'meanwhile');
          // A started API server remembers only what happens from then on.
          await restartProgram(folder, 'kube-apiserver', 'SIGKILL', 1_000);
          await setLabel(world, 'changed');
        } finally {
          connection.block(false);
        }
        recoverySeconds = await secondsOf(() => hasLabel(world, 'changed'));
      });
      await changedAndBack(world);
      expect(policyLists(folder) - listedBefore, 'lists of policies').toBeGreaterThanOrEqual(replicas.size);
      return { reviews, lost, recoverySeconds };
    },
  },
  {
    name: 'all connections to the API server fall silent without being closed',
    promise: 'No review is lost. The silence is detected, and policies that change take effect.',
    assertion: `${nothingLost} ${changedTwice}`,
    isLong: true,
    async run(world) {
      let recoverySeconds = 0;
      const { sent: reviews, lost } = await underLoad(world, async () => {
        world.connection.stall();
        recoverySeconds = await secondsOf(() => changedAndBack(world));
      });
      return { reviews, lost, recoverySeconds };
    },
  },
  {
    name: 'the API server takes 2 s for each call of ours',
    promise: 'No review is lost. Policies take effect, more slowly.',
    assertion: `${nothingLost} A policy for a further kind takes effect. ${changedTwice} This takes more than 2 s.`,
    isLong: true,
    async run(world) {
      const { connection, kubectl, namespace } = world;
      const late = labelPolicy(
        'faults-slow',
        'Secret',
        { late: 'yes' },
        { resources: { namespaces: [namespace] } },
      );
      let recoverySeconds = 0;
      const { sent: reviews, lost } = await underLoad(world, async () => {
        connection.slow(2_000);
        // Watches begin again, with slow calls.
        connection.cut();
        try {
          // Its webhook and its status are written by such calls.
          recoverySeconds = await secondsOf(() => withPolicies(kubectl, [late], () => changedAndBack(world)));
        } finally {
          connection.slow(0);
        }
      });
      expect(recoverySeconds, 'calls were slow').toBeGreaterThan(2);
      return { reviews, lost, recoverySeconds };
    },
  },
];

/** Measures from the return of the API server until a changed policy is in effect. */
async function outage(world: FaultWorld, restart: () => Promise<void>) {
  let recoverySeconds = 0;
  const {
    sent: reviews,
    lost,
    unavailable,
  } = await underLoad(world, async () => {
    await restart();
    recoverySeconds = await secondsOf(() => changedAndBack(world));
  });
  return {
    reviews,
    lost,
    recoverySeconds,
    note: `${unavailable} requests without an answer of the API server`,
  };
}

export async function changedAndBack(world: FaultWorld): Promise<void> {
  await setLabel(world, 'changed');
  await hasLabel(world, 'changed');
  await setLabel(world, 'yes');
  await hasLabel(world, 'yes');
}

/** The policy of the world, with this value. */
export function policyWith(namespace: string, value: string) {
  return labelPolicy('faults', 'ConfigMap', { [label]: value }, { resources: { namespaces: [namespace] } });
}

async function setLabel({ kubectl, namespace }: FaultWorld, value: string): Promise<void> {
  await kubectl.sendOk('apply', policyWith(namespace, value));
}

/** How often replicas have listed the policies, by the audit log of the API server. */
function policyLists(folder: string): number {
  const lists =
    /"stage":"ResponseComplete","requestURI":"\/apis\/kyverno.io\/v1\/clusterpolicies\?.*"verb":"list".*:kymera-admission"/;
  return readFileSync(join(folder, 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => lists.test(line)).length;
}
