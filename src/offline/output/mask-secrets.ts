import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';

const mask = '***';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export function isSecret(object: JsonObject | undefined): boolean {
  return object !== undefined && object['kind'] === 'Secret' && object['apiVersion'] === 'v1';
}

/** Masks the values of a Secret on both sides of a diff, as `kubectl diff` does: changes stay visible, values do not. */
export function maskPair<Side extends JsonObject | undefined>(
  before: Side,
  after: Side,
): readonly [Side, Side] {
  if (!isSecret(before) && !isSecret(after)) return [before, after];
  return [maskSide(before, after, 'before') as Side, maskSide(after, before, 'after') as Side];
}

function maskSide(
  object: JsonObject | undefined,
  other: JsonObject | undefined,
  side: 'before' | 'after',
): JsonObject | undefined {
  if (object === undefined) return undefined;
  const masked: Record<string, Json> = { ...object };
  for (const field of ['data', 'stringData']) {
    const values = member(object, field);
    if (!isObject(values)) continue;
    masked[field] = maskValues(values, other === undefined ? undefined : member(other, field), side);
  }
  const metadata = member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  if (isObject(metadata) && isObject(annotations) && Object.hasOwn(annotations, lastApplied)) {
    masked['metadata'] = { ...metadata, annotations: { ...annotations, [lastApplied]: mask } };
  }
  return masked;
}

function maskValues(values: JsonObject, other: Json | undefined, side: 'before' | 'after'): JsonObject {
  const entries = Object.entries(values).map(([key, value]): [string, Json] => {
    const counterpart = isObject(other) ? member(other, key) : undefined;
    const isChanged = counterpart !== undefined && stringifyJson(counterpart) !== stringifyJson(value);
    return [key, isChanged ? `${mask} (${side})` : mask];
  });
  return Object.fromEntries(entries);
}

/** Masks values for `explain`. */
export interface SecretMask {
  /** A value of a variable, condition, anchor or patch operation. `source` is its expression or path. */
  value(value: Json, source: string): Json;
  text(text: string): string;
}

export const noMask: SecretMask = { value: (value) => value, text: (text) => text };

/** Shorter strings occur in other values by chance. */
const shortestSecret = 4;

/**
 * Masks the values of the given Secrets wherever they occur, in plain form and in base64. A value that was read from another Secret is
 * recognized only by the word `secret` in its expression.
 */
export function createSecretMask(objects: readonly JsonObject[]): SecretMask {
  const secrets = new Set(objects.flatMap(secretStrings));
  const isMasked = (text: string) =>
    secrets.has(text) ||
    [...secrets].some((secret) => secret.length >= shortestSecret && text.includes(secret));
  const maskValue = (value: Json): Json => {
    if (typeof value === 'string') return isMasked(value) ? mask : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(maskValue);
    const object = value as JsonObject;
    if (isSecret(object)) return maskSide(object, undefined, 'after') as JsonObject;
    return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, maskValue(item)]));
  };
  return {
    value: (value, source) => (/secret/i.test(source) && !isObject(value) ? mask : maskValue(value)),
    text(text) {
      let masked = text;
      for (const secret of secrets) {
        if (secret.length >= shortestSecret) masked = masked.replaceAll(secret, mask);
      }
      return masked;
    },
  };
}

function secretStrings(object: JsonObject): string[] {
  if (!isSecret(object)) return [];
  const strings = ['data', 'stringData'].flatMap((field) => {
    const values = member(object, field);
    if (!isObject(values)) return [];
    return Object.values(values).filter((value) => typeof value === 'string' && value !== '') as string[];
  });
  const decoded = strings.flatMap((text) =>
    /^[A-Za-z0-9+/]+=*$/.test(text) ? [Buffer.from(text, 'base64').toString('utf8')] : [],
  );
  const encoded = strings.map((text) => Buffer.from(text).toString('base64'));
  return [...strings, ...decoded, ...encoded].filter((text) => text !== '');
}
