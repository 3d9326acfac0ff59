import { startProxy } from './api-proxy.ts';
import { configMap } from './objects.ts';
import type { Settings } from './settings.ts';

export interface LoadOptions {
  readonly namespace: string;
  /** The label that each response must have. */
  readonly label: string;
  /** The number of concurrent requests. */
  readonly width?: number;
}

export interface LoadResult {
  readonly count: number;
  /** Unexpected responses. */
  readonly problems: readonly string[];
}

export interface Load {
  stop(): Promise<LoadResult>;
}

/** Fewer responses are not significant. */
const leastAnswers = 50;

/** Creates ConfigMaps in dry runs, through `kubectl proxy`, until it is stopped and has enough responses. */
export async function startLoad(settings: Settings, options: LoadOptions): Promise<Load> {
  const { namespace, label, width = 4 } = options;
  const proxy = await startProxy(settings);
  const address = `${proxy.address}/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  const problems: string[] = [];
  let count = 0;
  let isStopping = false;
  const worker = async () => {
    while (!isStopping || count <= leastAnswers) {
      count += 1;
      const problem = await createOne(address, `load-${count}`, label).catch(String);
      if (problem !== undefined) problems.push(problem);
    }
  };
  const workers = Promise.all(Array.from({ length: width }, worker));
  return {
    stop: async () => {
      isStopping = true;
      await workers;
      proxy.stop();
      return { count, problems };
    },
  };
}

async function createOne(address: string, name: string, label: string): Promise<string | undefined> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(configMap(name)),
  });
  const answer = (await response.json()) as {
    message?: string;
    metadata?: { labels?: Record<string, string> };
  };
  if (!response.ok) return answer.message ?? `status ${response.status}`;
  return answer.metadata?.labels?.[label] === undefined ? `${name} was let through unchanged` : undefined;
}
