import { pino } from 'pino';
import { asciiJson } from '../../json/json-text.ts';
import type { Log } from '../../server/log.ts';
import type { Output } from '../io.ts';

export interface ServeLog extends Log {
  /** Writes the buffered lines. */
  flush(): void;
}

/** Lines are buffered this long, so that many reviews cost one write. */
const flushMilliseconds = 20;
const bufferLimit = 1 << 16;
/** While nobody reads the output, this much is kept. Lines beyond it are dropped and counted, because memory must not grow with them. */
const backlogLimit = 1 << 22;

/** Writes JSON lines to the output. */
export function createServeLog(level: string, output: Output): ServeLog {
  let buffered = '';
  let timer: NodeJS.Timeout | undefined;
  let isBlocked = false;
  let dropped = 0;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (buffered === '') return;
    const lines = buffered;
    buffered = '';
    const written = output.write(lines);
    if (written === undefined) return;
    isBlocked = true;
    void written.then(resume, resume);
  }
  function resume(): void {
    isBlocked = false;
    flush();
    if (dropped === 0) return;
    const count = dropped;
    dropped = 0;
    logger.warn({ dropped: count }, 'log lines were dropped because standard error is read too slowly');
  }
  const destination = {
    write(line: string) {
      if (buffered.length >= backlogLimit) {
        dropped += 1;
        return;
      }
      buffered += line;
      if (isBlocked) return;
      if (buffered.length >= bufferLimit) flush();
      else timer ??= setTimeout(flush, flushMilliseconds).unref();
    },
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = createTimestamp();
  const logger = pino({ level, base: null, timestamp, formatters }, destination);
  function infoText(fields: string, message: string): void {
    if (!logger.isLevelEnabled('info')) return;
    destination.write(`{"level":"info"${timestamp()},${fields},"msg":${asciiJson(message)}}\n`);
  }
  return Object.assign(logger, { flush, infoText });
}

/** Formats each millisecond once: many lines share it. */
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
