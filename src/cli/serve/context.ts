import type { ReadinessCheck } from '../../admission/policy-provider.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import { createInputDataSource } from '../../offline/data-source.ts';
import { plain } from '../../offline/output/paint.ts';
import { InputError, type Problem } from '../../problem.ts';
import type { Log } from '../../server/log.ts';
import { systemEnvironment } from '../../system-environment.ts';
import { expandInputs, type InputPath } from '../input/input-paths.ts';
import { readResources } from '../input/resource-reader.ts';
import type { Io } from '../io.ts';
import { formatProblem } from '../problem-text.ts';
import { type FileWatch, watchFiles } from './watch.ts';

export interface FileContext {
  readonly dataSource: DataSource;
  /** The problems of the files. */
  checks(): readonly ReadinessCheck[];
  stop(): void;
}

/** The last valid objects of a file, and its current errors. */
interface ContextFile {
  readonly objects: readonly JsonObject[];
  readonly errors: readonly Problem[];
}
type ContextFiles = ReadonlyMap<string, ContextFile>;

/**
 * Provides context data from objects in files: ConfigMaps, namespaces, API calls. Files are reloaded when they change. A file with
 * errors keeps its last valid objects.
 */
export async function provideContextFromFiles(
  names: readonly string[],
  { io, log, interval }: { readonly io: Io; readonly log: Log; readonly interval: number },
): Promise<FileContext> {
  let files = await readFiles(names, new Map(), io, log);
  let current = sourceOf(files);
  let unreadable: string | undefined;
  async function reload(): Promise<void> {
    try {
      files = await readFiles(names, files, io, log);
      current = sourceOf(files);
      unreadable = undefined;
      log.info({ files: files.size }, 'context data reloaded');
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      unreadable = error.message;
      log.error({ problem: unreadable }, 'context data cannot be read; the previous data is kept');
    }
  }
  const watch: FileWatch | undefined =
    names.length === 0 ? undefined : await watchFiles(names, io.cwd, reload, interval);
  return {
    dataSource: { read: (query) => current.read(query) },
    checks: () => checksOf(files, unreadable),
    stop: () => watch?.stop(),
  };
}

function sourceOf(files: ContextFiles): DataSource {
  return createInputDataSource(
    [...files.values()].flatMap(({ objects }) => objects),
    systemEnvironment,
  );
}

async function readFiles(
  names: readonly string[],
  before: ContextFiles,
  io: Io,
  log: Log,
): Promise<ContextFiles> {
  const files = new Map<string, ContextFile>();
  for (const input of await expandInputs(names, io.cwd)) {
    const { objects, errors } = await readFile(input, io, log);
    const known = before.get(input.file);
    files.set(input.file, { objects: errors.length === 0 ? objects : (known?.objects ?? objects), errors });
  }
  return files;
}

async function readFile(input: InputPath, io: Io, log: Log): Promise<ContextFile> {
  const objects: JsonObject[] = [];
  const problems: Problem[] = [];
  try {
    for await (const item of readResources([input], io)) {
      if ('object' in item) objects.push(item.object);
      else problems.push(item.problem);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    problems.push(...error.problems);
  }
  for (const problem of problems) log.warn({ problem: formatProblem(problem, plain) }, 'context problem');
  return { objects, errors: problems.filter(({ severity }) => severity === 'error') };
}

function checksOf(files: ContextFiles, unreadable: string | undefined): readonly ReadinessCheck[] {
  const checks = unreadable === undefined ? [] : [{ name: 'context files', ok: false, detail: unreadable }];
  for (const [file, { errors }] of files) {
    if (errors.length === 0) continue;
    const detail = errors.map((problem) => formatProblem(problem, plain)).join('; ');
    checks.push({ name: file, ok: false, detail: `its last valid objects are in use; ${detail}` });
  }
  return checks;
}
