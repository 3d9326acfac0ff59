import { refKey, refOf } from '../../background/object-identity.ts';
import type { ObjectReader, ObjectStore } from '../../background/ports.ts';
import { createExistingRun, type ExistingStep } from '../../background/run/existing-run.ts';
import { type Change, createOverlayStore, type OverlayStore } from '../../background/store/overlay-store.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import { createInputDataSource } from '../../offline/data-source.ts';
import {
  failureText,
  formatChanges,
  plannedChanges,
  stepWarnings,
  summaryOf,
} from '../../offline/output/planned-changes.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { systemEnvironment } from '../../system-environment.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { createCommandLog } from '../command-log.ts';
import { openCluster } from '../input/cluster-input.ts';
import { loadPolicies, loadPolicyInputs } from '../input/policy-input.ts';
import { readUserInfo } from '../input/request-documents.ts';
import type { ExitCode, Io } from '../io.ts';
import { noBar, showBar } from '../output/progress.ts';
import { openResultOutput } from '../output/result-output.ts';
import { paintFor } from '../output/style.ts';
import { formatProblem } from '../problem-text.ts';
import type { ExistingOptions } from './command.ts';
import { writeBack } from './files.ts';
import { type FileObjects, readFileObjects } from './objects.ts';
import { findTriggers } from './triggers.ts';

/** `kymera existing plan`: previews the changes. */
export async function planExisting(
  policyNames: readonly string[],
  options: ExistingOptions,
  io: Io,
): Promise<ExitCode> {
  return withWorld(policyNames, options, io, async (world) => {
    const overlay = createOverlayStore(world.reader);
    const { steps, triggers } = await runAll(world, overlay, overlay, options, io);
    const changes = plannedChanges(withoutTriggers(overlay, triggers, options), steps);
    await io.stdout.write(
      formatChanges(changes, options.format, paintFor(io.stdout, io, options.color), options.showSecrets),
    );
    return end(changes, steps, options, io);
  });
}

/** `kymera existing apply`: changes files, or the objects of a cluster. */
export async function applyExisting(
  policyNames: readonly string[],
  options: ExistingOptions,
  io: Io,
): Promise<ExitCode> {
  return withWorld(policyNames, options, io, async (world) => {
    if (world.store !== undefined) {
      const recorded = recordChanges(world.store);
      const { steps } = await runAll(world, recorded.store, undefined, options, io);
      return end(recorded.changes(), steps, options, io);
    }
    const overlay = createOverlayStore(world.reader);
    const { steps, triggers } = await runAll(world, overlay, overlay, options, io);
    const changes = plannedChanges(withoutTriggers(overlay, triggers, options), steps);
    const resources = world.files?.resources ?? new Map();
    if (options.output === undefined) await writeBack(changes, resources, io);
    else await writeAll(changes, world, options.output, io);
    return end(changes, steps, options, io);
  });
}

/** The objects, and the policies that apply to them. */
interface World {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  readonly reader: ObjectReader;
  /** The store of the cluster, if there is one. */
  readonly store?: ObjectStore | undefined;
  readonly files?: FileObjects | undefined;
  dataSource(overlay: OverlayStore | undefined): DataSource;
}

async function withWorld(
  policyNames: readonly string[],
  options: ExistingOptions,
  io: Io,
  use: (world: World) => Promise<ExitCode>,
): Promise<ExitCode> {
  const loaded = await loadPolicies(policyNames, io, { takesResources: true });
  const extra = await loadPolicyInputs(options.exceptions ?? [], io);
  const log = createCommandLog(io, options);
  for (const problem of [...loaded.problems, ...extra.problems]) await log.warn(problem);
  const { policies } = loaded;
  const exceptions = [...loaded.exceptions, ...extra.exceptions];
  if (options.cluster === true) {
    await log.release();
    const cluster = await openCluster(options, io);
    try {
      const { store, dataSource } = cluster;
      return await use({ policies, exceptions, reader: store, store, dataSource: () => dataSource });
    } finally {
      cluster.close();
    }
  }
  const files = await readFileObjects(options.resource ?? [], io);
  for (const problem of files.warnings) await log.warn(problem);
  await log.release();
  const dataSource = (overlay: OverlayStore | undefined) =>
    currentObjects(files.store.objects(), loaded.globalContext, overlay);
  return use({ policies, exceptions, reader: files.store, files, dataSource });
}

/** Rules read the current state of the objects, including earlier changes. */
function currentObjects(
  objects: readonly JsonObject[],
  more: readonly JsonObject[],
  overlay: OverlayStore | undefined,
): DataSource {
  let writes = 0;
  let source = createInputDataSource([...objects, ...more], systemEnvironment);
  return {
    read(query) {
      if (overlay !== undefined && overlay.writes() !== writes) {
        writes = overlay.writes();
        source = createInputDataSource([...merged(objects, overlay.changes()), ...more], systemEnvironment);
      }
      return source.read(query);
    },
  };
}

function merged(objects: readonly JsonObject[], changes: readonly Change[]): readonly JsonObject[] {
  const changed = new Map(changes.map((change) => [refKey(change.ref), change.after]));
  const kept = objects.flatMap((object) => {
    const key = refKey(refOf(object));
    if (!changed.has(key)) return [object];
    const after = changed.get(key);
    changed.delete(key);
    return after === undefined ? [] : [after];
  });
  return [...kept, ...[...changed.values()].flatMap((after) => (after === undefined ? [] : [after]))];
}

async function runAll(
  world: World,
  store: ObjectStore,
  overlay: OverlayStore | undefined,
  options: ExistingOptions,
  io: Io,
): Promise<{ readonly steps: readonly ExistingStep[]; readonly triggers: readonly JsonObject[] }> {
  const { policies, exceptions } = world;
  const triggers = await findTriggers(policies, world.reader, options.trigger, options.namespace);
  const user = options.userinfo === undefined ? {} : { user: await readUserInfo(options.userinfo, io) };
  const run = createExistingRun({
    policies,
    exceptions,
    store,
    dataSource: world.dataSource(overlay),
    environment: systemEnvironment,
    occasion: options.occasion,
    follow: overlay !== undefined,
    ...user,
  });
  const bar =
    io.stderr.isTTY && options.quiet !== true
      ? showBar(io.stderr, triggers.length, () => performance.now())
      : noBar;
  const steps: ExistingStep[] = [];
  try {
    for (const trigger of triggers) {
      // A deleted trigger no longer exists when its rules run.
      if (options.occasion === 'DELETE') await overlay?.remove(refOf(trigger));
      for await (const step of run.act(trigger)) steps.push(step);
      bar.step();
    }
  } finally {
    bar.clear();
  }
  return { steps, triggers };
}

/** The deletion of a trigger is not a change made by rules. */
function withoutTriggers(
  overlay: OverlayStore,
  triggers: readonly JsonObject[],
  { occasion }: ExistingOptions,
): readonly Change[] {
  if (occasion !== 'DELETE') return overlay.changes();
  const deleted = new Set(triggers.map((trigger) => refKey(refOf(trigger))));
  return overlay.changes().filter(({ ref, after }) => after !== undefined || !deleted.has(refKey(ref)));
}

/** A store that records its writes. */
function recordChanges(store: ObjectStore): { readonly store: ObjectStore; changes(): readonly Change[] } {
  const changes: Change[] = [];
  const { apply } = store;
  return {
    changes: () => changes,
    store: {
      ...store,
      async create(object) {
        const after = await store.create(object);
        changes.push({ ref: refOf(after), after });
        return after;
      },
      async update(...change) {
        const after = await store.update(...change);
        changes.push({ ref: refOf(after), before: change[0], after });
        return after;
      },
      ...(apply === undefined
        ? {}
        : {
            async apply(object: JsonObject) {
              const before = await store.get(refOf(object));
              const after = await apply(object);
              changes.push({ ref: refOf(after), before, after });
              return after;
            },
          }),
      async remove(ref) {
        await store.remove(ref);
        changes.push({ ref, before: {} });
      },
    },
  };
}

async function writeAll(changes: readonly Change[], world: World, path: string, io: Io): Promise<void> {
  const output = await openResultOutput(path, io);
  const objects = merged(world.files?.store.objects() ?? [], changes);
  let isFirst = true;
  for (const object of objects) {
    const text = writeYaml(object);
    await output.write(output.apart || isFirst ? text : `---\n${text}`, refOf(object).name);
    isFirst = false;
  }
  await output.release();
}

async function end(
  changes: readonly Change[],
  steps: readonly ExistingStep[],
  options: ExistingOptions,
  io: Io,
): Promise<ExitCode> {
  const failures = steps.filter(({ action }) => action === 'failed');
  const paint = paintFor(io.stderr, io, options.color);
  const warnings = steps.flatMap(stepWarnings);
  for (const warning of warnings) await io.stderr.write(`${formatProblem(warning, paint)}\n`);
  for (const failure of failures) await io.stderr.write(`${failureText(failure, paint)}\n`);
  const isForPerson = options.format === 'diff' || options.format === 'table';
  if (options.quiet !== true) await (isForPerson ? io.stdout : io.stderr).write(summaryOf(changes, steps));
  return failures.length > 0 ? 1 : 0;
}
