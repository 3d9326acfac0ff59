import { equal } from '../../json/equal.ts';
import { metadataOf } from '../../json/metadata.ts';
import { readTextMap } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

const metadataMaps = ['labels', 'annotations'] as const;

/** Ignores labels and annotations that others have added. */
export function differs(existing: JsonObject, desired: JsonObject): boolean {
  if (!equal(existing['webhooks'] ?? [], desired['webhooks'] ?? [])) return true;
  const [have, want] = [metadataOf(existing), metadataOf(desired)];
  return metadataMaps.some((field) => {
    const present = readTextMap(have, field);
    return Object.entries(readTextMap(want, field)).some(([key, value]) => present[key] !== value);
  });
}

/** Removes labels and annotations that earlier settings required and the current settings do not. */
export function withoutOutdated(
  existing: JsonObject,
  last: JsonObject | undefined,
  desired: JsonObject,
): JsonObject {
  if (last === undefined) return existing;
  const [have, had, want] = [metadataOf(existing), metadataOf(last), metadataOf(desired)];
  const outdated = (field: string) =>
    Object.keys(readTextMap(had, field)).filter(
      (key) => !Object.hasOwn(readTextMap(want, field), key) && Object.hasOwn(readTextMap(have, field), key),
    );
  if (metadataMaps.every((field) => outdated(field).length === 0)) return existing;
  const kept = metadataMaps.map((field) => {
    const gone = new Set(outdated(field));
    return [
      field,
      Object.fromEntries(Object.entries(readTextMap(have, field)).filter(([key]) => !gone.has(key))),
    ];
  });
  return { ...existing, metadata: { ...have, ...Object.fromEntries(kept) } };
}

export function merged(existing: JsonObject, desired: JsonObject): JsonObject {
  const [have, want] = [metadataOf(existing), metadataOf(desired)];
  return {
    ...desired,
    metadata: {
      ...have,
      labels: { ...readTextMap(have, 'labels'), ...readTextMap(want, 'labels') },
      annotations: { ...readTextMap(have, 'annotations'), ...readTextMap(want, 'annotations') },
    },
  };
}
