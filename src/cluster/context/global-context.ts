import type { DataAnswer } from '../../engine/context/data-source.ts';
import { compileExpression } from '../../expression/expression.ts';
import { Suspend } from '../../expression/scope.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { metadataOf } from '../../json/metadata.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { scopeViolation } from '../../policy/policy-scope.ts';
import { globalContextProblems } from './global-context-check.ts';
import { type GlobalContextOptions, type GlobalSource, startSource } from './global-context-source.ts';

export interface GlobalContext {
  set(name: string, object: JsonObject | undefined): void;
  /** `entry`, or `entry.projection`. */
  read(reference: string, policyNamespace?: string): DataAnswer;
  /** The state of each entry. */
  states(): readonly GlobalContextState[];
  stop(): Promise<void>;
}

export interface GlobalContextState {
  /** The stored object. */
  readonly object: JsonObject;
  readonly ready: boolean;
  readonly message: string;
  /** In ms since the epoch. */
  readonly refreshedAt: number | undefined;
}

interface Entry {
  readonly object: JsonObject;
  /** Identifies the version of the entry. */
  readonly text: string;
  readonly source: GlobalSource;
  readonly projections: ReadonlyMap<string, string>;
}

/** Keeps the data of GlobalContextEntries in memory. */
export function createGlobalContext(options: GlobalContextOptions): GlobalContext {
  const entries = new Map<string, Entry>();
  return {
    set(name, object) {
      const text = stringifyJson(readObject(object ?? {}, 'spec'));
      const known = entries.get(name);
      if (object !== undefined && known !== undefined && known.text === text) {
        entries.set(name, { ...known, object });
        return;
      }
      void known?.source.stop();
      entries.delete(name);
      if (object !== undefined) entries.set(name, entryOf(object, text, options));
      options.onChange?.();
    },
    read(reference, policyNamespace) {
      const [name = '', projection] = splitReference(reference, entries);
      const entry = entries.get(name);
      if (entry === undefined)
        return {
          found: false,
          error: `GlobalContextEntry ${name} does not exist`,
          reason: 'the GlobalContextEntry does not exist',
          absent: true,
        };
      const violation = scopeViolation(policyNamespace, {
        type: 'globalContextEntry',
        name,
        annotations: readObject(metadataOf(entry.object), 'annotations') ?? {},
      });
      if (violation !== undefined) return { found: false, error: violation, denied: true };
      const data = entry.source.data();
      if (!data.found) return { reason: 'the GlobalContextEntry has no data', ...data };
      if (projection === undefined) return data;
      const expression = entry.projections.get(projection);
      if (expression === undefined)
        return missing(
          `GlobalContextEntry ${name} has no projection ${projection}`,
          'the GlobalContextEntry has no such projection',
        );
      try {
        return { found: true, value: compileExpression(expression).search(data.value, options.environment) };
      } catch (error) {
        if (error instanceof Suspend) throw error;
        // The error may quote data.
        return missing(
          `projection ${projection} of GlobalContextEntry ${name} cannot be evaluated`,
          'the projection cannot be evaluated',
        );
      }
    },
    states: () =>
      [...entries.values()].map(({ object, source }) => {
        const data = source.data();
        const message = data.found ? 'the data is available' : data.error;
        return { object, ready: data.found, message, refreshedAt: source.refreshedAt() };
      }),
    async stop() {
      await Promise.all([...entries.values()].map(({ source }) => source.stop()));
    },
  };
}

function entryOf(object: JsonObject, text: string, options: GlobalContextOptions): Entry {
  const spec = readObject(object, 'spec') ?? {};
  const problems = globalContextProblems(object);
  const projections = new Map(
    readObjects(spec, 'projections').map((each) => [
      readText(each, 'name') ?? '',
      readText(each, 'jmesPath') ?? '',
    ]),
  );
  const source = problems.length === 0 ? startSource(spec, options) : unusable(problems);
  return { object, text, source, projections };
}

/** An invalid entry that admission did not see. */
function unusable(problems: readonly string[]): GlobalSource {
  return {
    data: () => missing(`the GlobalContextEntry cannot be used: ${problems.join('; ')}`),
    refreshedAt: () => undefined,
    stop: async () => {},
  };
}

/** Names of entries may contain dots. */
function splitReference(
  reference: string,
  entries: ReadonlyMap<string, unknown>,
): readonly [string, string?] {
  if (entries.has(reference)) return [reference];
  const dot = reference.lastIndexOf('.');
  return dot < 0 ? [reference] : [reference.slice(0, dot), reference.slice(dot + 1)];
}

function missing(error: string, reason?: string): DataAnswer {
  return { found: false, error, reason };
}
