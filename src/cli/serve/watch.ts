import { fingerprint, isSame } from '../input/watch.ts';

export interface FileWatch {
  stop(): void;
}

/**
 * Calls `changed` when a file is changed, created or deleted and then stays unchanged for one interval. Polls, because mounted
 * ConfigMaps, editors and network folders report changes in different ways.
 */
export async function watchFiles(
  names: readonly string[],
  cwd: string,
  changed: () => Promise<void>,
  interval: number,
): Promise<FileWatch> {
  let settled = await fingerprint(names, { cwd });
  let last = settled;
  let isStopped = false;
  let timer: NodeJS.Timeout;
  async function look(): Promise<void> {
    const now = await fingerprint(names, { cwd });
    const isQuiet = isSame(now, last);
    last = now;
    if (isQuiet && !isSame(now, settled)) {
      settled = now;
      await changed();
    }
    if (!isStopped) timer = setTimeout(look, interval).unref();
  }
  timer = setTimeout(look, interval).unref();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
