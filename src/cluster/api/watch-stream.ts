import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { parseJson } from '../../json/json-text.ts';
import { readNumber, readObject, readText } from '../../json/read-field.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import { ApiError, ClusterAccessError } from './cluster-error.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
export type WatchListener = (type: WatchEventType, object: JsonObject) => void;

/**
 * Reads the events of a watch until it ends. An idle connection looks like a dead one, so each watch requests a timeout
 * from the API server. A watch that lasts longer than that is dead, and is closed.
 */
export function readWatch(
  stream: Readable,
  listener: WatchListener,
  options: { readonly maximumMs: number; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8');
    let pieces: string[] = [];
    const timer = setTimeout(
      () => stream.destroy(new ClusterAccessError('the watch did not end in time: the connection is dead')),
      options.maximumMs,
    );
    const abort = () => stream.destroy();
    if (options.signal.aborted) abort();
    options.signal.addEventListener('abort', abort, { once: true });
    const settle = (error?: unknown) => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', abort);
      stream.removeAllListeners('data');
      if (error === undefined) resolve();
      else reject(error);
    };
    stream.on('data', (chunk: Buffer) => {
      const lines = decoder.write(chunk).split('\n');
      const last = lines.pop() ?? '';
      try {
        for (const line of lines) {
          const text = pieces.length === 0 ? line : pieces.join('') + line;
          pieces = [];
          if (text.trim() !== '') deliver(text, listener);
        }
        if (last !== '') pieces.push(last);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
    stream.once('end', () => settle());
    stream.once('error', (error) => settle(error));
    stream.once('close', () => settle());
  });
}

function deliver(line: string, listener: WatchListener): void {
  const event = parseJson(line);
  const object = isObject(event) ? readObject(event, 'object') : undefined;
  const type = isObject(event) ? readText(event, 'type') : undefined;
  if (object === undefined) return;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      listener(type, object);
      return;
    case 'ERROR':
      throw new ApiError(
        readNumber(object, 'code') ?? 500,
        readText(object, 'reason') ?? '',
        readText(object, 'message') ?? 'the watch failed',
      );
  }
}
