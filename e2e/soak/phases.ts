import { configMap } from '../objects.ts';
import { createReviewLoad, type ReviewAnswer } from './review-load.ts';
import {
  changesOf,
  mixedReviews,
  readMetrics,
  readTargets,
  type SoakWorld,
  slowReviews,
  type Targets,
} from './world.ts';

/** What was measured in some seconds. */
export interface Sample {
  readonly phase: 'soak' | 'overload' | 'recovery';
  /** Since the start of the phase. */
  readonly seconds: number;
  readonly answered: number;
  readonly shed: number;
  /** Neither answered nor shed. */
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** Of those that were shed. */
  readonly shedP99: number;
  readonly residentMegabytes: number;
  /** p99 in these seconds. */
  readonly loopDelayMs: number;
  readonly queue: number;
}

export interface PhaseResult {
  readonly answered: number;
  readonly shed: number;
  readonly failed: number;
  /** Some of those that failed. */
  readonly problems: readonly string[];
  /** Requests to the API server, by result. */
  readonly requests: Readonly<Record<string, number>>;
  /** When the last review was sent, in milliseconds since 1970. */
  readonly sentUntil: number;
  /** When the last review came back without an answer; 0 for none. */
  readonly lastFailureAt: number;
}

export interface PhaseOptions {
  readonly phase: Sample['phase'];
  /** Reviews per second; one after the other on each connection when absent. */
  readonly perSecond?: number | undefined;
  /** The most reviews in flight. */
  readonly connections?: number | undefined;
  readonly isSlow?: boolean | undefined;
  /** For each review. */
  readonly timeoutSeconds?: number | undefined;
  readonly isEnough: (seconds: number, reviews: number) => boolean;
  /** Seconds per sample. */
  readonly every?: number | undefined;
  readonly onSample?: ((sample: Sample) => void) | undefined;
}

const keptProblems = 5;

/** Sends reviews and measures. At the same time, some requests go through the API server. */
export async function runPhase(world: SoakWorld, options: PhaseOptions): Promise<PhaseResult> {
  const { phase, perSecond, connections = 32, isSlow = false, isEnough, every = 5, onSample } = options;
  const reviews = isSlow ? slowReviews(world.namespace) : mixedReviews(world.namespace);
  const setOf = (index: number) => reviews[index % reviews.length] ?? (['fail', Buffer.alloc(0)] as const);
  let targets: Targets = await readTargets(world);
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  const total = { answered: 0, shed: 0, failed: 0, sentUntil: 0, lastFailureAt: 0 };
  const problems: string[] = [];
  let window = createWindow();
  let isDone = false;

  const load = createReviewLoad({
    connections,
    timeoutSeconds: options.timeoutSeconds,
    next: (index) => {
      const [set, body] = setOf(index);
      total.sentUntil = Date.now();
      return { target: targets[set], body };
    },
    onAnswer(answer, index) {
      const result = resultOf(answer, setOf(index)[0]);
      total[result] += 1;
      window.add(answer, result);
      if (result === 'answered') return;
      total.lastFailureAt = Date.now();
      if (result === 'failed' && problems.length < keptProblems)
        problems.push(`${answer.status}: ${answer.problem}`);
    },
  });
  const isOver = () => isEnough(seconds(), total.answered + total.shed + total.failed);
  const following = repeat(
    1_000,
    () => isDone,
    async () => {
      targets = await readTargets(world).catch(() => targets);
    },
  );
  const sampling = repeat(
    every * 1_000,
    () => isDone,
    async () => {
      const measured = await readMetrics(world);
      const finished = window;
      window = createWindow();
      onSample?.({
        phase,
        seconds: seconds(),
        ...finished.figures(),
        residentMegabytes: (measured.get('process_resident_memory_bytes') ?? 0) / 1e6,
        loopDelayMs: (measured.get('nodejs_eventloop_lag_p99_seconds') ?? 0) * 1e3,
        queue: measured.get('kymera_review_queue') ?? 0,
      });
    },
  );
  const requests: Record<string, number> = {};
  const requesting = repeat(
    isSlow ? 20 : 200,
    () => isDone,
    async () => {
      const result = await requestThroughApiServer(world, isSlow);
      requests[result] = (requests[result] ?? 0) + 1;
    },
  );
  try {
    if (perSecond === undefined) await load.closed(isOver);
    else await load.open(perSecond, isOver);
  } finally {
    isDone = true;
    await Promise.all([following, sampling, requesting]);
    load.close();
  }
  return { ...total, problems, requests };
}

type Result = 'answered' | 'shed' | 'failed';

/** Only reviews for `Fail` may be told to come again. */
function resultOf(answer: ReviewAnswer, set: 'fail' | 'ignore'): Result {
  if (answer.status === 200 && answer.isPatched) return 'answered';
  const expected = set === 'fail' ? '1' : undefined;
  return answer.status === 503 && answer.retryAfter === expected ? 'shed' : 'failed';
}

async function requestThroughApiServer({ api, namespace }: SoakWorld, isSlow: boolean): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  try {
    const { status, body } = await api.send('POST', path, configMap(isSlow ? 'slow' : 'reading'));
    if (status !== 201) return `refused: ${String(body.message).replaceAll(/\/[0-9a-f]{48}\//g, '/TOKEN/')}`;
    const labels = body.metadata?.labels ?? {};
    return labels.soak === undefined ? 'stored unchanged' : 'changed';
  } catch (error) {
    return String(error);
  }
}

function createWindow() {
  const counts: Record<Result, number> = { answered: 0, shed: 0, failed: 0 };
  const times: Record<Result, number[]> = { answered: [], shed: [], failed: [] };
  return {
    add({ milliseconds }: ReviewAnswer, result: Result) {
      counts[result] += 1;
      times[result].push(milliseconds);
    },
    figures() {
      for (const list of Object.values(times)) list.sort((left, right) => left - right);
      const at = (list: readonly number[], share: number) =>
        list[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0;
      const { answered, shed } = times;
      return {
        ...counts,
        p50: at(answered, 0.5),
        p99: at(answered, 0.99),
        longest: at(answered, 1),
        shedP99: at(shed, 0.99),
      };
    },
  };
}

/** Repeats something until it is over. */
export async function repeat(
  everyMs: number,
  isOver: () => boolean,
  act: () => Promise<unknown>,
): Promise<void> {
  const stepMs = Math.min(everyMs, 50);
  let nextAt = performance.now() + everyMs;
  while (!isOver()) {
    await new Promise((resolve) => setTimeout(resolve, stepMs));
    if (performance.now() < nextAt) continue;
    await act();
    nextAt = Math.max(nextAt + everyMs, performance.now());
  }
}

/** Lets everything change all the time, until it is over. Returns how often. */
export async function keepChanging(
  world: SoakWorld,
  isOver: () => boolean,
): Promise<Readonly<Record<string, number>>> {
  const changes = changesOf(world);
  const counts: Record<string, number> = {};
  const each = (name: string, everyMs: number, act: (count: number) => Promise<void> | void) =>
    repeat(everyMs, isOver, async () => {
      const count = (counts[name] ?? 0) + 1;
      await act(count);
      counts[name] = count;
    });
  await Promise.all([
    each('policies', 1_000, changes.policy),
    each('watches', 20_000, changes.watches),
    each('accountTokens', 30_000, changes.accountToken),
    each('certificates', 45_000, changes.certificate),
    each('pathTokens', 240_000, changes.pathToken),
  ]);
  return counts;
}
