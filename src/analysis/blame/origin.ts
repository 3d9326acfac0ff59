import { alignLists } from '../../json/diff/align.ts';
import { identityOf } from '../../json/diff/item-identity.ts';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { escapeToken } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject } from '../../json/value.ts';

/** The history of one value: the rules that wrote it, and the value of the first object that it descends from. */
export interface Origin<Writer> {
  /** Oldest first; empty for a value of the first object that no rule wrote. */
  readonly writers: readonly Writer[];
  /** The writers of every part without an origin of its own. Undefined: the parts descend from those of `source`. */
  readonly inner?: readonly Writer[] | undefined;
  /** A pointer into the first object; undefined for a value that a rule added. */
  readonly source?: string | undefined;
  readonly members?: ReadonlyMap<string, Origin<Writer>> | undefined;
  readonly items?: readonly Origin<Writer>[] | undefined;
}

export function partOf<Writer>(origin: Origin<Writer>, key: string | number): Origin<Writer> {
  const known = typeof key === 'number' ? origin.items?.[key] : origin.members?.get(key);
  if (known !== undefined) return known;
  if (origin.inner !== undefined) return written(origin.inner);
  return { writers: [], source: origin.source === undefined ? undefined : below(origin.source, key) };
}

export function below(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === 'number' ? key : escapeToken(key)}`;
}

export function isFilledObject(value: Json): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0;
}

export function isFilledList(value: Json): value is JsonArray {
  return isArray(value) && value.length > 0;
}

function written<Writer>(writers: readonly Writer[]): Origin<Writer> {
  return { writers, inner: writers };
}

interface Part<Writer> {
  readonly origin: Origin<Writer>;
  readonly value: Json;
}

/** Follows the origins of an object through the changes of one rule after the other. */
export class Origins<Writer> {
  #root: Origin<Writer> = { writers: [], source: '' };
  readonly #removers = new Map<string, readonly Writer[]>();
  #writers: readonly Writer[] = [];
  #removed: Part<Writer>[] = [];
  readonly #added: { readonly value: Json; put(origin: Origin<Writer>): void }[] = [];

  get root(): Origin<Writer> {
    return this.#root;
  }

  /** Who removed values of the first object, by pointer. An entry also covers the parts of the value. */
  get removers(): ReadonlyMap<string, readonly Writer[]> {
    return this.#removers;
  }

  /** Without a writer, the change is nobody's: values that the user supplied for a policy. */
  change(before: Json, after: Json, writer: Writer | undefined): void {
    this.#writers = writer === undefined ? [] : [writer];
    this.#removed = [];
    this.#added.length = 0;
    this.#root = this.#carry(this.#root, before, after);
    this.#followMoves();
  }

  #carry(origin: Origin<Writer>, before: Json, after: Json): Origin<Writer> {
    if (equal(before, after)) return origin;
    if (isFilledObject(before) && isFilledObject(after)) return this.#carryObject(origin, before, after);
    if (isFilledList(before) && isFilledList(after)) return this.#carryList(origin, before, after);
    if (origin.source !== undefined && typeof before === 'object') this.#gone(origin);
    const { writers, source } = origin;
    return { writers: [...writers, ...this.#writers], inner: this.#writers, source };
  }

  #carryObject(origin: Origin<Writer>, before: JsonObject, after: JsonObject): Origin<Writer> {
    const members = new Map<string, Origin<Writer>>();
    for (const [key, value] of Object.entries(after)) {
      if (Object.hasOwn(before, key)) {
        members.set(key, this.#carry(partOf(origin, key), before[key] as Json, value));
      } else {
        members.set(key, written(this.#writers));
        this.#added.push({ value, put: (moved) => void members.set(key, moved) });
      }
    }
    for (const [key, value] of Object.entries(before)) {
      if (!Object.hasOwn(after, key)) this.#remove({ origin: partOf(origin, key), value });
    }
    return { ...origin, members };
  }

  #carryList(origin: Origin<Writer>, before: JsonArray, after: JsonArray): Origin<Writer> {
    const items: Origin<Writer>[] = [];
    const removed = new Map<string, Part<Writer>>();
    const added: number[] = [];
    let index = 0;
    for (const step of alignLists(before, after)) {
      switch (step.type) {
        case 'keep':
          for (let count = 0; count < step.count; count++) items.push(partOf(origin, index++));
          break;
        case 'change':
          items.push(
            this.#carry(partOf(origin, index), before[index++] as Json, after[items.length] as Json),
          );
          break;
        case 'remove': {
          const part = { origin: partOf(origin, index), value: before[index++] as Json };
          this.#remove(part);
          const identity = identityOf(part.value);
          if (identity !== undefined && !removed.has(identity)) removed.set(identity, part);
          break;
        }
        case 'add':
          added.push(items.length);
          items.push(written(this.#writers));
          break;
      }
    }
    for (const at of added) {
      const value = after[at] as Json;
      const part = removed.get(identityOf(value) ?? '');
      if (part === undefined) this.#added.push({ value, put: (moved) => void items.splice(at, 1, moved) });
      else items[at] = this.#moved(this.#carry(part.origin, part.value, value));
    }
    return { ...origin, items };
  }

  #remove(part: Part<Writer>): void {
    this.#removed.push(part);
    this.#gone(part.origin);
  }

  #gone({ source }: Origin<Writer>): void {
    if (source !== undefined) this.#removers.set(source, this.#writers);
  }

  /** A value that the rule removed in one place and added in another keeps the writers of its parts. */
  #followMoves(): void {
    const removed = new Map(
      this.#removed
        .filter(({ value }) => isFilledObject(value) || isFilledList(value))
        .map((part) => [stringifyJson(part.value), part]),
    );
    if (removed.size === 0) return;
    for (const { value, put } of this.#added) {
      const part = typeof value === 'object' ? removed.get(stringifyJson(value)) : undefined;
      if (part !== undefined) put(this.#moved(part.origin));
    }
  }

  #moved(origin: Origin<Writer>): Origin<Writer> {
    return { ...this.#detached(origin), writers: [...origin.writers, ...this.#writers] };
  }

  /** Values that only the first object had now count as written by the rule that moved them. */
  #detached({ writers, inner, members, items }: Origin<Writer>): Origin<Writer> {
    return {
      writers: writers.length > 0 ? writers : this.#writers,
      inner: inner ?? this.#writers,
      members: members && new Map([...members].map(([key, origin]) => [key, this.#detached(origin)])),
      items: items?.map((origin) => this.#detached(origin)),
    };
  }
}
