import type { ErrorCode } from '../errors.ts';

/** The API server accepts no larger request. */
export const maximumObjectCharacters = 3 * 1024 * 1024;
export const maximumDepth = 250;
export const maximumAliases = 1000;

export interface LimitBreach {
  readonly code: ErrorCode;
  readonly message: string;
}

export const tooLarge: LimitBreach = {
  code: 'KYM_INPUT_TOO_LARGE',
  message: 'the object is larger than 3 MiB, the most that an API server accepts',
};

export const tooDeep: LimitBreach = {
  code: 'KYM_INPUT_TOO_DEEP',
  message: `the document nests deeper than ${maximumDepth} levels`,
};

const selfReference: LimitBreach = {
  code: 'KYM_YAML_ALIASES',
  message: 'an alias refers to a value that contains it',
};

interface Extent {
  readonly size: number;
  readonly height: number;
}

const leaf: Extent = { size: 4, height: 0 };

/**
 * Measures a value as if every alias were expanded, without expanding it: each shared part is measured once. Undefined when the
 * value is within the limits.
 */
export function checkLimits(root: unknown): LimitBreach | undefined {
  const measured = new Map<object, Extent>();
  const open = new Set<object>();
  let breach: LimitBreach | undefined;

  function measure(value: unknown, depth: number): Extent {
    if (typeof value === 'string') return { size: value.length, height: 0 };
    if (typeof value !== 'object' || value === null) return leaf;
    const known = measured.get(value);
    if (known !== undefined) return known;
    if (depth >= maximumDepth) breach ??= tooDeep;
    if (open.has(value)) breach ??= selfReference;
    if (breach !== undefined) return leaf;
    open.add(value);
    const extent = measureMembers(value as Record<string, unknown>, depth);
    open.delete(value);
    measured.set(value, extent);
    return extent;
  }

  function measureMembers(value: Record<string, unknown>, depth: number): Extent {
    let size = 2;
    let height = 0;
    for (const key of Object.keys(value)) {
      const extent = measure(value[key], depth + 1);
      size += key.length + extent.size;
      height = Math.max(height, extent.height + 1);
      if (size > maximumObjectCharacters) breach ??= tooLarge;
      if (depth + height > maximumDepth) breach ??= tooDeep;
      if (breach !== undefined) break;
    }
    return { size, height };
  }

  measure(root, 0);
  return breach;
}
