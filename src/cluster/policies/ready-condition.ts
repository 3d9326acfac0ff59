import { readNumber, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { Json, JsonObject } from '../../json/value.ts';

export interface ReadyState {
  readonly ready: boolean;
  readonly message: string;
}

const longestMessage = 1_000;

/** The conditions of an object with a new `Ready` condition; others are kept. */
export function readyConditions(object: JsonObject, { ready, message }: ReadyState, now: Date): Json {
  const status = ready ? 'True' : 'False';
  const conditions = readObjects(readObject(object, 'status') ?? {}, 'conditions');
  const before = conditions.find((condition) => readText(condition, 'type') === 'Ready') ?? {};
  const isSame = readText(before, 'status') === status;
  const generation = readNumber(readObject(object, 'metadata') ?? {}, 'generation');
  const condition: JsonObject = {
    type: 'Ready',
    status,
    reason: ready ? 'Succeeded' : 'Failed',
    message,
    lastTransitionTime: (isSame ? readText(before, 'lastTransitionTime') : undefined) ?? secondsOf(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return [...conditions.filter((each) => readText(each, 'type') !== 'Ready'), condition];
}

export function cutMessage(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

/** The time format of the API server. */
export function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
