import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ApiProxy, openApiProxy } from '../api-proxy.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { freePorts } from '../control-plane/processes.ts';
import { readState } from '../control-plane/state.ts';
import { configMap } from '../objects.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { keepChanging, type PhaseOptions, type PhaseResult, runPhase, type Sample } from '../soak/phases.ts';
import { changesOf, type SoakWorld, soakPolicies } from '../soak/world.ts';
import { type StallingProxy, startStallingProxy } from '../stalling-proxy.ts';
import { suite } from '../suite.ts';

/** `npm run soak` sets both: the duration of the long form, and the file for its results. */
const minutes = Number(process.env['KYMERA_SOAK_MINUTES'] ?? 0);
const resultFile = process.env['KYMERA_SOAK_RESULTS'];
/** Of the capacity. */
const share = Number(process.env['KYMERA_SOAK_SHARE'] ?? 0.8);
const isLong = minutes > 0;
const overloadSeconds = 30;
const timeoutMs = (minutes + 10) * 60_000;

function record(entry: object): void {
  if (resultFile !== undefined) appendFileSync(resultFile, `${JSON.stringify(entry)}\n`);
}

suite('soak', ({ settings, kubectl, namespace, before, after }) => {
  const folder = settings.controlPlane;
  let world: SoakWorld;
  let server: ClusterServer | undefined;
  let connection: StallingProxy | undefined;
  let api: ApiProxy | undefined;
  const policies = soakPolicies(namespace);

  before(async () => {
    if (folder === undefined) return;
    connection = await startStallingProxy(Number(new URL(readState(folder).server).port));
    const [metricsPort = 0] = await freePorts(1);
    const tokenFile = join(folder, 'soak-token');
    const args = ['--metrics-port', String(metricsPort), '--state-dir', join(folder, 'soak-state')];
    server = await startClusterServer(settings, { apiServerPort: connection.port, tokenFile, args });
    api = await openApiProxy(settings);
    world = { kubectl, namespace, api, server, metricsPort, connection, tokenFile };
    await kubectl.sendOk('create', configMap('settings', { team: 'red' }));
    await applyPolicies(kubectl, policies);
  });
  after(async () => {
    api?.close();
    await kubectl.send('delete', policies, '--ignore-not-found');
    await server?.uninstall();
    await connection?.close();
  });

  const phase = (options: PhaseOptions): Promise<PhaseResult> =>
    runPhase(world, {
      ...options,
      // The short form must not fail where the machine is slow: the longest timeout of webhooks.
      ...(isLong ? {} : { timeoutSeconds: 30 }),
      onSample(sample: Sample) {
        record(sample);
        if (isLong) console.info(progressOf(sample));
      },
    });
  /** Reviews per second that the server answers when each client waits for the answer. */
  const capacityOf = async (isSlow: boolean, connections: number, seconds: number) => {
    await runPhase(world, {
      phase: 'soak',
      isSlow,
      connections,
      isEnough: (passed) => passed >= seconds / 2,
    });
    const { answered } = await runPhase(world, {
      phase: 'soak',
      isSlow,
      connections,
      isEnough: (passed) => passed >= seconds,
    });
    return answered / seconds;
  };

  it(
    'every review is answered while policies, certificates and tokens change and watches are cut',
    async (context) => {
      if (folder === undefined) context.skip('only on a control plane of our own');
      const result = isLong ? await soak() : await shortSoak();
      const { problems, failed, shed, requests } = result;
      expect({ problems, failed, shed }).toEqual({ problems: [], failed: 0, shed: 0 });
      expect(Object.keys(requests)).toEqual(['changed']);
    },
    timeoutMs,
  );

  async function soak(): Promise<PhaseResult> {
    const capacity = await capacityOf(false, 32, 10);
    const perSecond = capacity * share;
    record({ capacity, share, perSecond, minutes });
    let isOver = false;
    const changing = keepChanging(world, () => isOver);
    try {
      const result = await phase({
        phase: 'soak',
        perSecond,
        connections: 200,
        isEnough: (passed) => passed >= minutes * 60,
      });
      isOver = true;
      record({ result: 'soak', ...result, changes: await changing });
      return result;
    } finally {
      isOver = true;
      await changing;
    }
  }

  /** Counts instead of seconds: it takes longer on a busy machine, but ends the same. */
  async function shortSoak(): Promise<PhaseResult> {
    const changes = changesOf(world);
    let reviews = 0;
    const running = phase({
      phase: 'soak',
      connections: 8,
      isEnough: (_passed, count) => {
        reviews = count;
        return isChanged && count >= 400;
      },
    });
    let isChanged = false;
    const changing = (async () => {
      for (let value = 1; value <= 5; value += 1) {
        await changes.policy(value);
        if (value === 2) changes.watches();
        if (value === 3) await changes.certificate();
        if (value === 4) await changes.accountToken();
      }
      isChanged = true;
    })();
    await Promise.all([running, changing]);
    expect(reviews).toBeGreaterThanOrEqual(400);
    return running;
  }

  it(
    'under overload, what cannot be answered in time is shed according to the failure policy, and the server recovers',
    async (context) => {
      if (folder === undefined) context.skip('only on a control plane of our own');
      const capacity = isLong ? await capacityOf(true, 16, 10) : 0;
      const perSecond = isLong ? capacity * 10 : undefined;
      const overload = await phase({
        phase: 'overload',
        perSecond,
        // As many as three API servers have in flight; in the short form, twice the queue.
        connections: isLong ? 600 : 200,
        isSlow: true,
        every: 1,
        isEnough: isLong ? (passed) => passed >= overloadSeconds : (_passed, count) => count >= 900,
      });
      record({ result: 'overload', capacity, perSecond, ...overload });
      expect({ problems: overload.problems, failed: overload.failed }).toEqual({ problems: [], failed: 0 });
      expect(overload.answered).toBeGreaterThan(0);
      expect(overload.shed).toBeGreaterThan(0);
      expect(overload.requests['stored unchanged'] ?? 0, JSON.stringify(overload.requests)).toBe(0);
      const recovery = await phase({
        phase: 'recovery',
        perSecond: isLong ? capacity / 2 : undefined,
        connections: isLong ? 200 : 2,
        isSlow: true,
        every: 1,
        isEnough: isLong ? (passed) => passed >= 15 : (_passed, count) => count >= 40,
      });
      record({ result: 'recovery', ...recovery });
      expect({ problems: recovery.problems, failed: recovery.failed }).toEqual({ problems: [], failed: 0 });
      if (!isLong) expect(recovery.answered).toBeGreaterThan(0);
    },
    timeoutMs,
  );
});

function progressOf({
  phase,
  seconds,
  answered,
  shed,
  failed,
  p99,
  residentMegabytes,
  loopDelayMs,
}: Sample): string {
  const figures = [
    `${answered} answered`,
    `${shed} shed`,
    `${failed} failed`,
    `p99 ${p99.toFixed(0)} ms`,
    `event loop ${loopDelayMs.toFixed(0)} ms`,
    `${residentMegabytes.toFixed(0)} MB`,
  ];
  return `${phase} ${seconds.toFixed(0).padStart(4)} s: ${figures.join(', ')}`;
}
