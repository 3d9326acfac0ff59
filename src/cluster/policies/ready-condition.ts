import { readNumber, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { Json, JsonObject } from '../../json/value.ts';

export interface ReadyState {
  readonly ready: boolean;
  readonly message: string;
}

const longestMessage = 1_000;

/** The conditions of an object with a new `Ready` condition; others are kept. */
export function readyConditions(object: JsonObject, { ready, message }: ReadyState, now: Date): Json {
  const conditions = readObjects(readObject(object, 'status') ?? {}, 'conditions');
  return withCondition(conditions, { type: 'Ready', ready, message, generation: generationOf(object) }, now);
}

/** The conditions with a new one in place of that of the same type. */
export function withCondition(
  conditions: readonly JsonObject[],
  {
    type,
    ready,
    message,
    generation,
  }: ReadyState & { readonly type: string; readonly generation: number | undefined },
  now: Date,
): Json {
  const status = ready ? 'True' : 'False';
  const before = conditions.find((condition) => readText(condition, 'type') === type) ?? {};
  const isSame = readText(before, 'status') === status;
  const condition: JsonObject = {
    type,
    status,
    reason: ready ? 'Succeeded' : 'Failed',
    message,
    lastTransitionTime: (isSame ? readText(before, 'lastTransitionTime') : undefined) ?? secondsOf(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return [...conditions.filter((each) => readText(each, 'type') !== type), condition];
}

export function generationOf(object: JsonObject): number | undefined {
  return readNumber(readObject(object, 'metadata') ?? {}, 'generation');
}

export function cutMessage(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

/** The time format of the API server. */
export function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
