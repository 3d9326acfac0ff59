import type { JsonObject } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import type { CelText, Scope } from '../types.ts';
import type { Step } from './operations.ts';
import { dynamicFieldOf, fieldOf, type Place } from './place.ts';
import { keyText } from './value.ts';

/** How objects of one kind are merged. */
export interface KindSchema {
  readonly merge: SchemaNode | undefined;
  readonly declared: StructuredSchema | undefined;
  /** Whether a patch may be an ApplyConfiguration: the schema of the whole object is known, and the patch runs once. */
  readonly isApplied: boolean;
  /** The patch may meet custom resources, whose values may have other types than the patch: then a merge fails. */
  readonly checksTypes?: boolean | undefined;
}

/** A part of the overlay and the field that it is merged into. */
export interface Target extends KindSchema {
  readonly place: Place;
  readonly path: string;
}

export interface Work {
  readonly scope: Scope;
  /** Conditions of the enclosing list item, or of the whole patch outside of lists. */
  readonly guards: CelText[];
  /** Conditions of the whole patch. */
  readonly patchGuards: CelText[];
  /** Merges a map; passed in to avoid an import cycle. */
  readonly mapSteps: (map: JsonObject, target: Target, work: Work) => readonly Step[];
  /** How many loops are around. */
  readonly depth: number;
}

export function fieldTarget(target: Target, key: string, path: string, scope?: Scope): Target {
  const { declared, merge } = target;
  const { isApplied, checksTypes } = target;
  const isDynamic = scope !== undefined && key.includes('{{');
  return {
    place: isDynamic
      ? dynamicFieldOf(target.place, keyText(key, path, scope).source)
      : fieldOf(target.place, key),
    declared:
      declared?.kind === 'map'
        ? declared.field(isDynamic ? '' : key)
        : declared?.kind === 'any'
          ? declared
          : undefined,
    merge: merge?.fields.get(key),
    path,
    isApplied,
    checksTypes,
  };
}
