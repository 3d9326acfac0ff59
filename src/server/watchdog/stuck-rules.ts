import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json } from '../../json/value.ts';
import type { CompiledRule } from '../../policy/compiled.ts';

/** A rule that blocked a process for objects of a namespace. */
export interface Blockage {
  readonly policy: string;
  readonly rule: string;
  /** Of the rule's document: a rule that was changed gets another chance. */
  readonly fingerprint: string;
  /** The namespace of the object. */
  readonly namespace: string;
}

/** Blockages, stored so that they survive the process. */
export interface BlockageStore {
  readonly file: string;
  /** Rules that have blocked a process at least twice. */
  stuckRules(): readonly Blockage[];
  isStuck(fingerprint: string, policy: string, namespace: string): boolean;
  /** Reads blockages that other processes have added. */
  refresh(): void;
}

const blockagesUntilStuck = 2;
const keptBlockages = 1_000;

/** Keeps blockages in a file of a folder, one JSON document per line. */
export function openBlockageStore(folder: string): BlockageStore {
  const file = join(folder, 'blocked-rules.jsonl');
  let stuck = new Map<string, Blockage>();
  let size = -1;

  function refresh(): void {
    const current = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (current === size) return;
    size = current;
    const blockages = current === 0 ? [] : readBlockages(file);
    const counts = new Map<string, number>();
    stuck = new Map();
    for (const blockage of blockages) {
      const key = keyOf(blockage.fingerprint, blockage.policy, blockage.namespace);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count >= blockagesUntilStuck) stuck.set(key, blockage);
    }
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
      stuck.size > 0 && stuck.has(keyOf(fingerprint, policy, namespace)),
    refresh,
  };
}

export function fingerprintOf({ document }: CompiledRule): string {
  return createHash('sha256').update(stringifyJson(document)).digest('hex').slice(0, 16);
}

function keyOf(fingerprint: string, policy: string, namespace: string): string {
  return `${fingerprint} ${policy} ${namespace}`;
}

function readBlockages(file: string): readonly Blockage[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const value = parse(line);
      return isObject(value) && typeof value['fingerprint'] === 'string'
        ? [value as unknown as Blockage]
        : [];
    });
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
