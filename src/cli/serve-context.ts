import type { DataSource } from '../engine/data-source.ts';
import type { JsonObject } from '../json/value.ts';
import type { Log } from '../server/review-log.ts';
import { createInputDataSource } from './input-data-source.ts';
import { InputError } from './input-error.ts';
import { expandInputs } from './input-paths.ts';
import type { Io } from './io.ts';
import { formatProblem } from './problem-text.ts';
import { readResources } from './resource-reader.ts';
import { type FileWatch, watchFiles } from './serve-watch.ts';
import { plain } from './style.ts';

export interface FileContext {
  readonly dataSource: DataSource;
  stop(): void;
}

/** What policies read of a cluster, from objects in files: ConfigMaps, namespaces, answers to API calls. */
export async function provideContextFromFiles(
  names: readonly string[],
  { io, log, interval }: { readonly io: Io; readonly log: Log; readonly interval: number },
): Promise<FileContext> {
  let current = createInputDataSource(await readObjects(names, io, log));
  async function reload(): Promise<void> {
    try {
      current = createInputDataSource(await readObjects(names, io, log));
      log.info({}, 'context data reloaded');
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      log.error({ problem: error.message }, 'context data cannot be read; what was loaded before stays');
    }
  }
  const watch: FileWatch | undefined =
    names.length === 0 ? undefined : await watchFiles(names, io.cwd, reload, interval);
  return { dataSource: { read: (query) => current.read(query) }, stop: () => watch?.stop() };
}

async function readObjects(names: readonly string[], io: Io, log: Log): Promise<JsonObject[]> {
  const objects: JsonObject[] = [];
  for await (const item of readResources(await expandInputs(names, io.cwd), io)) {
    if ('object' in item) objects.push(item.object);
    else log.warn({ problem: formatProblem(item.problem, plain) }, 'context problem');
  }
  return objects;
}
