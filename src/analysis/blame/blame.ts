import type { Result } from '../../engine/outcome.ts';
import { alignLists } from '../../json/diff/align.ts';
import { identityOf } from '../../json/diff/item-identity.ts';
import { equal } from '../../json/equal.ts';
import type { Json, JsonArray, JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRuleHead } from '../../policy/compiled.ts';
import { below, isFilledList, isFilledObject, type Origin, Origins, partOf } from './origin.ts';

/** The rule that wrote or removed a value. */
export interface Writer {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRuleHead;
}

/** What one rule did to the object. */
export interface RuleWrite extends Writer {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

export interface BlamedChange<By = Writer> {
  readonly op: 'add' | 'replace' | 'remove';
  /** A pointer into the new object; for `remove`, into the old object. */
  readonly path: string;
  readonly by: By;
  /** Rules that wrote this value before `by` did, oldest first. */
  readonly earlier: readonly By[];
}

/** Who changed what. Each list of writers is oldest first: the last one wrote the current value. */
export interface Blame<By = Writer> {
  /** In the order of the new object. A part has an entry of its own if another rule wrote it. */
  readonly changes: readonly BlamedChange<By>[];
  /** The writers of the value at a pointer into the new object; empty if it is as in the old object. */
  writersOf(pointer: string): readonly By[];
  /** The rules that removed or replaced the value at a pointer into the old object; empty if it is still there. */
  removersOf(pointer: string): readonly By[];
  /** The pointer into the old object of the value that the value at a pointer into the new object replaced. */
  replacedBy(pointer: string): string | undefined;
}

/**
 * Names the rule that wrote each changed value. `before` is the object that the policies received.
 *
 * @example
 * const result = await mutate(pod, set);
 * for (const { op, path, by } of blame(pod, result).changes) console.log(op, path, by.policy.key, by.rule.name);
 */
export function blame(
  before: JsonObject,
  { object, outcomes, failedPolicies }: Pick<Result, 'object' | 'outcomes' | 'failedPolicies'>,
): Blame {
  return blameWrites(before, writesOf({ outcomes, failedPolicies }), object ?? before);
}

/** The changes of rules that are part of the result. */
export function writesOf({
  outcomes,
  failedPolicies,
}: Pick<Result, 'outcomes' | 'failedPolicies'>): readonly RuleWrite[] {
  return outcomes.flatMap((outcome) =>
    outcome.status === 'applied' && !failedPolicies.includes(outcome.policy) ? [outcome] : [],
  );
}

/** As `blame`, for writes in order. A change between two writes is nobody's. */
export function blameWrites(before: JsonObject, writes: readonly RuleWrite[], after: JsonObject): Blame {
  const written = writes.map((write) => ({ before: write.before, after: write.after, by: write }));
  return blameSteps<Writer>(before, written, after);
}

/** One step of the history of an object. */
export interface Step<By> {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly by: By;
}

/** As `blameWrites`, for any kind of writer. */
export function blameSteps<By>(before: JsonObject, steps: readonly Step<By>[], after: JsonObject): Blame<By> {
  const origins = new Origins<By>();
  let current = before;
  for (const step of steps) {
    origins.change(current, step.before, undefined);
    origins.change(step.before, step.after, step.by);
    current = step.after;
  }
  origins.change(current, after, undefined);
  const comparison = new Comparison<By>(origins.removers);
  comparison.compare({ value: before, path: '' }, { value: after, path: '' }, origins.root);
  return comparison;
}

interface Place<Value extends Json = Json> {
  readonly value: Value;
  readonly path: string;
}

interface Entry<By> {
  readonly own: readonly By[];
  /** For parts without an entry of their own. */
  readonly inner: readonly By[];
}

/** Compares the first object with the last one. A value that rules changed and changed back is no change. */
class Comparison<By> implements Blame<By> {
  readonly changes: BlamedChange<By>[] = [];
  readonly #added = new Map<string, Entry<By>>();
  readonly #gone = new Map<string, Entry<By>>();
  readonly #removers: ReadonlyMap<string, readonly By[]>;
  /** The removed values below each pointer. */
  readonly #removedParts = new Map<string, string[]>();

  readonly #replaced = new Map<string, string>();

  constructor(removers: ReadonlyMap<string, readonly By[]>) {
    this.#removers = removers;
    for (const part of removers.keys()) {
      for (let end = part.lastIndexOf('/'); end >= 0; end = end === 0 ? -1 : part.lastIndexOf('/', end - 1)) {
        const above = part.slice(0, end);
        const known = this.#removedParts.get(above);
        if (known === undefined) this.#removedParts.set(above, [part]);
        else known.push(part);
      }
    }
  }

  writersOf(pointer: string): readonly By[] {
    return lookUp(this.#added, pointer);
  }

  removersOf(pointer: string): readonly By[] {
    return lookUp(this.#gone, pointer);
  }

  replacedBy(pointer: string): string | undefined {
    return this.#replaced.get(pointer);
  }

  compare(before: Place, after: Place, origin: Origin<By>): void {
    if (equal(before.value, after.value)) return;
    if (isFilledObject(before.value) && isFilledObject(after.value)) {
      this.#compareObjects(before as Place<JsonObject>, after as Place<JsonObject>, origin);
    } else if (isFilledList(before.value) && isFilledList(after.value)) {
      this.#compareLists(before as Place<JsonArray>, after as Place<JsonArray>, origin);
    } else {
      this.#gone.set(before.path, { own: origin.writers, inner: origin.writers });
      this.#replaced.set(after.path, before.path);
      this.#write('replace', after.path, origin);
    }
  }

  #compareObjects(before: Place<JsonObject>, after: Place<JsonObject>, origin: Origin<By>): void {
    for (const key of Object.keys(after.value)) {
      const part = partOf(origin, key);
      if (Object.hasOwn(before.value, key)) this.compare(memberAt(before, key), memberAt(after, key), part);
      else this.#write('add', below(after.path, key), part);
    }
    for (const key of Object.keys(before.value)) {
      if (!Object.hasOwn(after.value, key)) this.#remove(below(before.path, key));
    }
  }

  /** Items that descend from an item of the first object are compared with it; the gaps between them are aligned. */
  #compareLists(before: Place<JsonArray>, after: Place<JsonArray>, origin: Origin<By>): void {
    const indexes = new Map(before.value.map((_, index) => [below(before.path, index), index]));
    let start = { before: 0, after: 0 };
    for (let index = 0; index < after.value.length; index++) {
      const part = partOf(origin, index);
      const from = part.source === undefined ? undefined : indexes.get(part.source);
      if (from === undefined) continue;
      this.#compareGap(before, after, origin, start, { before: from, after: index });
      this.compare(itemAt(before, from), itemAt(after, index), part);
      start = { before: from + 1, after: index + 1 };
    }
    this.#compareGap(before, after, origin, start, {
      before: before.value.length,
      after: after.value.length,
    });
  }

  #compareGap(
    before: Place<JsonArray>,
    after: Place<JsonArray>,
    origin: Origin<By>,
    start: { readonly before: number; readonly after: number },
    end: { readonly before: number; readonly after: number },
  ): void {
    let from = start.before;
    let to = start.after;
    const old = before.value.slice(from, end.before);
    for (const step of alignLists(old, after.value.slice(to, end.after))) {
      if (step.type === 'keep') {
        from += step.count;
        to += step.count;
        continue;
      }
      const [left, right] = [before.value[from], after.value[to]];
      if (step.type === 'change' && isSameItem(left as Json, right as Json)) {
        this.compare(itemAt(before, from++), itemAt(after, to), partOf(origin, to++));
        continue;
      }
      if (step.type !== 'add') this.#remove(below(before.path, from++));
      if (step.type !== 'remove') this.#write('add', below(after.path, to), partOf(origin, to++));
    }
  }

  #write(op: 'add' | 'replace', path: string, origin: Origin<By>): void {
    this.#record(op, path, origin.writers);
    const inner = origin.inner ?? origin.writers;
    this.#added.set(path, { own: origin.writers, inner });
    this.#writeParts(path, origin, inner);
  }

  #writeParts(path: string, { members, items }: Origin<By>, inherited: readonly By[]): void {
    for (const [key, part] of [...(members ?? []), ...(items ?? []).entries()]) {
      const isInherited = [part.writers, part.inner ?? part.writers].every(
        (writers) => writers.at(-1) === inherited.at(-1),
      );
      if (isInherited) this.#writeParts(below(path, key), part, inherited);
      else this.#write('add', below(path, key), part);
    }
  }

  #remove(path: string): void {
    const writers = covering(this.#removers, path)?.value ?? [];
    this.#record('remove', path, writers);
    this.#gone.set(path, { own: writers, inner: writers });
    for (const part of this.#removedParts.get(path) ?? []) {
      const others = this.#removers.get(part) ?? [];
      if (others.at(-1) === writers.at(-1)) continue;
      this.#record('remove', part, others);
      this.#gone.set(part, { own: others, inner: others });
    }
  }

  #record(op: BlamedChange['op'], path: string, writers: readonly By[]): void {
    const by = writers.at(-1);
    if (by !== undefined) this.changes.push({ op, path, by, earlier: writers.slice(0, -1) });
  }
}

function memberAt({ value, path }: Place<JsonObject>, key: string): Place {
  return { value: value[key] as Json, path: below(path, key) };
}

function itemAt({ value, path }: Place<JsonArray>, index: number): Place {
  return { value: value[index] as Json, path: below(path, index) };
}

function isSameItem(left: Json, right: Json): boolean {
  const identity = identityOf(left);
  return identity !== undefined && identity === identityOf(right);
}

function lookUp<By>(entries: ReadonlyMap<string, Entry<By>>, pointer: string): readonly By[] {
  const found = covering(entries, pointer);
  if (found === undefined) return [];
  return found.pointer === pointer ? found.value.own : found.value.inner;
}

/** The entry of the pointer, or of the nearest value around it. */
function covering<Value>(
  entries: ReadonlyMap<string, Value>,
  pointer: string,
): { readonly pointer: string; readonly value: Value } | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const value = entries.get(at);
    if (value !== undefined) return { pointer: at, value };
    if (at === '') return undefined;
  }
}
