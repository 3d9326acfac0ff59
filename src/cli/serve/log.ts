import { pino } from 'pino';
import type { Log } from '../../server/reviews/review-log.ts';
import type { Output } from '../io.ts';

export interface ServeLog extends Log {
  /** Writes what is held back. */
  flush(): void;
}

/** Lines are held back this long, so that many reviews cost one write. */
const flushMilliseconds = 20;
const largestHeld = 1 << 16;

/** JSON lines to the output. */
export function createServeLog(level: string, output: Output): ServeLog {
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held === '') return;
    const text = held;
    held = '';
    void output.write(text);
  }
  const destination = {
    write(line: string) {
      held += line;
      if (held.length >= largestHeld) flush();
      else timer ??= setTimeout(flush, flushMilliseconds).unref();
    },
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = createTimestamp();
  const logger = pino({ level, base: null, timestamp, formatters }, destination);
  return Object.assign(logger, {
    flush,
    infoText(fields: string, message: string) {
      if (!logger.isLevelEnabled('info')) return;
      destination.write(`{"level":"info"${timestamp()},${fields},"msg":${JSON.stringify(message)}}\n`);
    },
  });
}

/** Many lines are written in one millisecond: its text is made once. */
function createTimestamp(): () => string {
  let lastAt = 0;
  let last = '';
  return () => {
    const now = Date.now();
    if (now !== lastAt) {
      lastAt = now;
      last = `,"time":"${new Date(now).toISOString()}"`;
    }
    return last;
  };
}
