import { shareText } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Value, ValueObject } from './value.ts';

type Member = Value | undefined;

/** Longer strings are not kept. */
const longestText = 256;

/**
 * Builds the objects of a literal. Most literals have the same members for each container and each request. Then the same object
 * is used again, and patches contain its text without serializing it each time.
 */
export class RepeatedObject {
  readonly #build: (members: readonly Member[]) => ValueObject;
  #last: readonly Member[] | undefined;
  #object: ValueObject | undefined;

  constructor(build: (members: readonly Member[]) => ValueObject) {
    this.#build = build;
  }

  /** The object with these members; undefined for one that is absent. */
  with(members: readonly Member[]): ValueObject {
    if (!this.#areRepeated(members)) {
      this.#last = members.every(isSmallScalar) ? members : undefined;
      this.#object = undefined;
      return this.#build(members);
    }
    // Only now: members that differ each time must not cost more.
    this.#object ??= shareText(this.#build(members) as JsonObject) as ValueObject;
    return this.#object;
  }

  #areRepeated(members: readonly Member[]): boolean {
    const last = this.#last;
    if (last === undefined) return false;
    for (let index = 0; index < members.length; index++) if (members[index] !== last[index]) return false;
    return true;
  }
}

function isSmallScalar(value: Member): boolean {
  if (typeof value === 'string') return value.length <= longestText;
  return typeof value !== 'object' || value === null;
}
