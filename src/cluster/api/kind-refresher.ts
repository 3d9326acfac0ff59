import { backOffMs } from './back-off.ts';
import { createCoalescedTask, type TaskOptions } from './coalesced-task.ts';
import type { Discovery } from './discovery.ts';

export interface KindRefresher {
  /** Refreshes soon; call it when a CustomResourceDefinition changed. */
  soon(): void;
  stop(): Promise<void>;
}

export interface KindRefresherOptions extends Pick<TaskOptions, 'onError' | 'onEnd'> {
  /** The names of the CustomResourceDefinitions, such as `policies.kyverno.io`. */
  readonly definitions: () => Iterable<string>;
}

const refreshIntervalMs = 5 * 60_000;
/** The API server serves a new version of a kind shortly after it accepted the definition. */
const afterChangeMs = [0, 2_000, 6_000];
const incompleteBackOff = { firstMs: 1_000, lastMs: 30_000 };

/** Keeps the table of kinds up to date, and reads it again and again while kinds are missing in it. */
export function startKindRefresher(
  discovery: Discovery,
  { definitions, onError, onEnd }: KindRefresherOptions,
): KindRefresher {
  let timers: NodeJS.Timeout[] = [];
  let retry: NodeJS.Timeout | undefined;
  let incomplete = 0;
  const task = createCoalescedTask(
    async () => {
      const hasAll = await discovery.refresh();
      clearTimeout(retry);
      incomplete = hasAll && servesAll(discovery, definitions()) ? 0 : incomplete + 1;
      if (incomplete > 0) retry = setTimeout(() => task.trigger(), backOffMs(incomplete, incompleteBackOff));
    },
    { delayMs: 300, onError, onEnd },
  );
  const interval = setInterval(() => task.trigger(), refreshIntervalMs);
  const cancel = () => {
    for (const timer of [...timers, retry]) clearTimeout(timer);
  };
  return {
    soon() {
      cancel();
      incomplete = 0;
      timers = afterChangeMs.map((ms) => setTimeout(() => task.trigger(), ms));
    },
    async stop() {
      clearInterval(interval);
      await task.stop();
      cancel();
    },
  };
}

function servesAll(discovery: Discovery, definitions: Iterable<string>): boolean {
  const served = new Set(discovery.current().kinds.map(({ resource, group }) => `${resource}.${group}`));
  for (const name of definitions) if (!served.has(name)) return false;
  return true;
}
