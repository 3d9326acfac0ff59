import { describe, expect, it } from 'vitest';
import { indexedSubject } from '../policy.testing.ts';
import { valuesOf } from './literal-clauses.ts';

describe('the name of a request', () => {
  const unnamed = (generateName: string) =>
    valuesOf('requestName', indexedSubject({ generateName, request: { name: '', namespace: 'shop' } }));

  it('is the name of the object, or any beginning of generateName', () => {
    expect(valuesOf('requestName', indexedSubject({ generateName: 'ab-' }))).toEqual(['web']);
    expect(unnamed('ab-')).toEqual(['a', 'ab', 'ab-']);
    expect(unnamed('')).toEqual([]);
  });

  it('is not known for a generateName that is longer than any name: its beginnings would take forever', () => {
    expect(unnamed('a'.repeat(253))).toHaveLength(253);
    expect(unnamed('a'.repeat(254))).toBeUndefined();
  });
});
