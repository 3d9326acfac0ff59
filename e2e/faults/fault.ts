import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { ApiProxy } from '../api-proxy.ts';
import type { BackgroundProcess } from '../background-process.ts';
import type { ClusterServer } from '../cluster-server.ts';
import type { Kubectl } from '../kubectl.ts';
import { configMap } from '../objects.ts';
import type { Settings } from '../settings.ts';
import { reviewBody } from '../soak/review-load.ts';
import type { StallingProxy } from '../stalling-proxy.ts';
import { waitFor } from '../wait-for.ts';

/** One row of the table of faults. */
export interface Fault {
  readonly name: string;
  /** What users can rely on. */
  readonly promise: string;
  /** What the test checks. */
  readonly assertion: string;
  /** Only in the long form: it takes minutes. */
  readonly isLong?: boolean | undefined;
  /** Why it cannot be caused here. */
  missing?(): string | undefined;
  /** Causes the fault, checks the promise and measures. Leaves the world as it was. */
  run(world: FaultWorld): Promise<Measured>;
}

/** Replicas and background controllers that serve a policy for ConfigMaps. */
export interface FaultWorld {
  readonly settings: Settings;
  readonly kubectl: Kubectl;
  /** Where the policy applies. */
  readonly namespace: string;
  readonly api: ApiProxy;
  readonly server: ClusterServer;
  /** The connection of all replicas to the API server. */
  readonly connection: StallingProxy;
  /** Replicas that run, by number. */
  readonly replicas: Set<number>;
  readonly workers: BackgroundProcess[];
  startWorker(): Promise<BackgroundProcess>;
  /** The file with the token of all replicas. */
  readonly tokenFile: string;
  /** The folder of the control plane. */
  readonly folder: string;
  readonly size: FaultSize;
}

export interface FaultSize {
  /** Reviews before and after each fault. */
  readonly reviews: number;
  readonly updateRequests: number;
}

export const shortForm: FaultSize = { reviews: 40, updateRequests: 60 };
export const longForm: FaultSize = { reviews: 500, updateRequests: 1_000 };

export interface Measured {
  readonly reviews?: number | undefined;
  /** Reviews that failed although the API server was there. */
  readonly lost?: number | undefined;
  readonly recoverySeconds?: number | undefined;
  readonly note?: string | undefined;
}

/** What the API server calls. */
export const configuration = 'kymera-resource-mutation';
/** The label that the policy adds. */
export const label = 'faults';
/** The number of requests at a time. */
const width = 4;
/** Further answers of each client after which the API server has noticed that connections are closed. */
const settling = 4;
const keptReasons = 5;

export interface Reviews {
  /** Waits for this many further answers. */
  more(count: number): Promise<void>;
  /** From now on, failures count as effects of the fault. */
  fault(): void;
  /** Reviews may be lost by this, until each client has some further answers. `most` is asked then. */
  losing(act: () => Promise<unknown>, most: () => number): Promise<void>;
  stop(): Promise<ReviewCounts>;
}

export interface ReviewCounts {
  readonly sent: number;
  /** The webhook could not be called, or denied the request. */
  readonly lost: number;
  /** Those of them that were not lost by an act that may lose some. */
  readonly unexplained: number;
  /** Why the first of these were lost. */
  readonly reasons: readonly string[];
  /** Stored without the change of the policy. */
  readonly unchanged: number;
  /** The API server did not answer. */
  readonly unavailable: number;
  /** From the fault until the last failed request. */
  readonly recoverySeconds: number;
}

type Outcome = 'changed' | 'unchanged' | 'lost' | 'unavailable';

/** Sends dry runs of ConfigMaps until it is stopped. */
export function startReviews({ api, namespace }: FaultWorld): Reviews {
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  const counts: Record<Outcome, number> = { changed: 0, unchanged: 0, lost: 0, unavailable: 0 };
  let sent = 0;
  let isStopping = false;
  let faultAt = 0;
  let lastFailureAt = 0;
  let explained = 0;
  const changedOf = Array.from({ length: width }, () => 0);
  const reasons: string[] = [];
  const send = async (): Promise<Outcome> => {
    try {
      const { status, body } = await api.send('POST', path, configMap(`review-${sent}`));
      if (status === 201) return body.metadata?.labels?.[label] === undefined ? 'unchanged' : 'changed';
      const message = String(body.message ?? '');
      if (!message.includes('webhook')) return 'unavailable';
      if (reasons.length < keptReasons) reasons.push(message);
      return 'lost';
    } catch {
      return 'unavailable';
    }
  };
  const work = async (_: unknown, client: number) => {
    while (!isStopping) {
      const outcome = await send();
      sent += 1;
      counts[outcome] += 1;
      if (outcome === 'changed') changedOf[client] = (changedOf[client] ?? 0) + 1;
      else lastFailureAt = Date.now();
      if (outcome === 'unavailable') await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const workers = Promise.all(Array.from({ length: width }, work));
  return {
    async more(count) {
      const goal = counts.changed + count;
      await waitFor(() => counts.changed >= goal, {
        what: `${count} further reviews`,
        everyMs: 20,
      });
    },
    fault() {
      faultAt = Date.now();
    },
    async losing(act, most) {
      const before = counts.lost;
      await act();
      const goals = changedOf.map((count) => count + settling);
      await waitFor(() => goals.every((goal, client) => (changedOf[client] ?? 0) >= goal), {
        what: `${settling} further reviews of each client`,
        everyMs: 20,
      });
      const lost = counts.lost - before;
      expect(lost, `reviews that were lost: ${reasons.join('; ')}`).toBeLessThanOrEqual(most());
      explained += lost;
      reasons.length = 0;
    },
    async stop() {
      isStopping = true;
      await workers;
      const { lost, unchanged, unavailable } = counts;
      const recoverySeconds = faultAt === 0 ? 0 : Math.max(0, lastFailureAt - faultAt) / 1_000;
      return { sent, lost, unexplained: lost - explained, reasons, unchanged, unavailable, recoverySeconds };
    },
  };
}

/**
 * Causes a fault under load. Nothing may be stored unchanged, unless the fault is that no policy applies for a while, and
 * reviews are lost only where the act says so.
 */
export async function underLoad(
  world: FaultWorld,
  act: (load: Reviews) => Promise<unknown>,
  { mayBeUnchanged = false } = {},
): Promise<ReviewCounts> {
  const load = startReviews(world);
  let counts: ReviewCounts;
  try {
    await load.more(world.size.reviews);
    load.fault();
    await act(load);
    await load.more(world.size.reviews);
  } finally {
    counts = await load.stop();
  }
  if (!mayBeUnchanged)
    expect(counts.unchanged, 'objects that were stored without the change of the policy').toBe(0);
  expect(counts.unexplained, `reviews that were lost: ${counts.reasons.join('; ')}`).toBe(0);
  return counts;
}

export async function secondsOf(act: () => Promise<unknown>): Promise<number> {
  const startedAt = Date.now();
  await act();
  return (Date.now() - startedAt) / 1_000;
}

/** Whether a replica has written this to its log after this call. */
export function outputSince({ server, replicas }: FaultWorld, text: RegExp): (replica: number) => boolean {
  const lengths = new Map([...replicas].map((replica) => [replica, server.output(replica).length]));
  return (replica) => text.test(server.output(replica).slice(lengths.get(replica) ?? 0));
}

/** Waits until a dry run has this value of the label, and each replica adds it; undefined for none. */
export async function hasLabel(world: FaultWorld, value: string | undefined): Promise<void> {
  const { api, namespace } = world;
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  await waitFor(
    async () => {
      const { status, body } = await api.send('POST', path, configMap('probe'));
      if (status !== 201 || body.metadata?.labels?.[label] !== value) return false;
      return value === undefined || (await labelsOfReplicas(world)).every((each) => each === value);
    },
    { what: `the label ${label}=${value}` },
  );
}

/** The API server keeps its connections to some replicas, so each one is asked. */
async function labelsOfReplicas({ kubectl, namespace, replicas, server }: FaultWorld) {
  const { webhooks } = await kubectl.get('mutatingwebhookconfiguration', configuration);
  const body = reviewBody(namespace, configMap('probe'));
  return Promise.all(
    [...replicas].map(async (replica) => {
      const url = new URL(webhooks[0].clientConfig.url);
      url.port = String(server.ports()[replica]);
      const operations = await patchOf(url, body);
      return operations.find(({ path }) => path === '/metadata/labels')?.value?.[label];
    }),
  );
}

interface Operation {
  readonly path: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

/** The patch in the answer of a webhook. */
function patchOf(url: URL, body: Buffer): Promise<readonly Operation[]> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const call = request(
      url,
      { method: 'POST', headers, rejectUnauthorized: false, agent: false },
      (answer) => {
        text(answer)
          .then((given) => {
            const { patch = '' } = JSON.parse(given).response;
            resolve(patch === '' ? [] : JSON.parse(Buffer.from(patch, 'base64').toString('utf8')));
          })
          .catch(reject);
      },
    );
    call.on('error', reject).end(body);
  });
}
