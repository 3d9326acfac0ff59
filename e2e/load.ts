import type { Kubectl } from './kubectl.ts';
import { configMap } from './objects.ts';

export interface LoadResult {
  readonly count: number;
  /** What was answered other than expected. */
  readonly problems: readonly string[];
}

/** Creates ConfigMaps one after the other, in a dry run, until it is told to stop; each must be answered with `label`. */
export function startLoad(kubectl: Kubectl, label: string): { stop(): Promise<LoadResult> } {
  const problems: string[] = [];
  let count = 0;
  let stopping = false;
  const running = (async () => {
    while (!stopping) {
      count += 1;
      const answer = await kubectl.send(
        'create',
        configMap(`load-${count}`),
        '--dry-run=server',
        '-o',
        'json',
      );
      if (answer.code !== 0) problems.push(answer.stderr);
      else if (!JSON.parse(answer.stdout).metadata.labels?.[label])
        problems.push(`no label in answer ${count}`);
    }
  })();
  return {
    stop: async () => {
      stopping = true;
      await running;
      return { count, problems };
    },
  };
}
