import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Blockage, blockageKey, readBlockage, stuckRules } from '../../admission/blockage.ts';
import type { Json } from '../../json/value.ts';

/** Blockages, stored so that they survive the process. */
export interface BlockageStore {
  readonly file: string;
  /** Rules that have blocked a process at least twice. */
  stuckRules(): readonly Blockage[];
  isStuck(fingerprint: string, policy: string, namespace: string): boolean;
  /** Reads blockages that other processes and replicas have added, and shares those of this one. */
  refresh(): void;
}

/** Blockages of all replicas. */
export interface SharedBlockages {
  /** Returns the same list until it changes. */
  known(): readonly Blockage[];
  /** After a failure, the blockages are added again. */
  add(blockages: readonly Blockage[]): Promise<void>;
}

const keptBlockages = 1_000;

/**
 * Keeps blockages in a file of a folder, one JSON document per line: a process that is blocked can write nothing else. The next
 * process shares them with other replicas.
 */
export function openBlockageStore(
  folder: string,
  shared?: SharedBlockages,
  onError: (error: unknown) => void = () => undefined,
): BlockageStore {
  const file = join(folder, 'blocked-rules.jsonl');
  let own: readonly Blockage[] = [];
  let others: readonly Blockage[] = [];
  let stuck: ReadonlyMap<string, Blockage> = new Map();
  let size = -1;
  let sharing = false;

  function refresh(): void {
    const current = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const known = shared?.known() ?? [];
    if (current !== size || known !== others) {
      if (current !== size) own = current === 0 ? [] : readBlockages(file);
      size = current;
      others = known;
      stuck = stuckRules([...own, ...others]);
    }
    share();
  }

  function share(): void {
    if (shared === undefined || sharing) return;
    const ids = new Set(others.map(({ id }) => id));
    const known = stuckRules(others);
    // Rules that are known to be stuck need no further blockages.
    const missing = own.filter(
      ({ id, fingerprint, policy, namespace }) =>
        !ids.has(id) && !known.has(blockageKey(fingerprint, policy, namespace)),
    );
    if (missing.length === 0) return;
    sharing = true;
    shared
      .add(missing)
      .catch(onError)
      .finally(() => {
        sharing = false;
      });
  }

  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    trim(file);
  } catch {
    // A folder that is not writable: blockages are still detected, but not remembered.
  }
  refresh();
  return {
    file,
    stuckRules: () => [...stuck.values()],
    isStuck: (fingerprint, policy, namespace) =>
      stuck.size > 0 && stuck.has(blockageKey(fingerprint, policy, namespace)),
    refresh,
  };
}

function readBlockages(file: string): readonly Blockage[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => readBlockage(parse(line)) ?? []);
}

/** A line may be incomplete: the process that wrote it ended at that moment. */
function parse(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return null;
  }
}

function trim(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  if (lines.length > keptBlockages) writeFileSync(file, `${lines.slice(-keptBlockages).join('\n')}\n`);
}
