import { fingerprint, isSame } from '../input/watch.ts';

export interface FileWatch {
  stop(): void;
}

/**
 * Calls back when one of the files changes, comes or goes, once it has been quiet for one interval. Looks at intervals:
 * mounted ConfigMaps, editors and network folders do not tell of changes in one way.
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
