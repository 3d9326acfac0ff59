import { describe, expect, it } from 'vitest';
import { isLabelValue, isQualifiedName, isSubdomain } from './object-name.ts';

describe('isSubdomain', () => {
  it.each(['a', 'a-b.c', '0.1', 'a'.repeat(253)])('accepts %j', (text) => {
    expect(isSubdomain(text)).toBe(true);
  });
  it.each(['', 'A', 'a_b', '-a', 'a-', 'a..b', '.a', 'a.', 'a\n', 'a'.repeat(254)])('refuses %j', (text) => {
    expect(isSubdomain(text)).toBe(false);
  });
});

describe('isLabelValue', () => {
  it.each(['', 'a', 'A.b_c-1', '1', 'a'.repeat(63)])('accepts %j', (text) => {
    expect(isLabelValue(text)).toBe(true);
  });
  it.each(['-a', 'a-', '.', 'a b', 'a/b', 'é', 'a\n', 'a'.repeat(64)])('refuses %j', (text) => {
    expect(isLabelValue(text)).toBe(false);
  });
});

describe('isQualifiedName', () => {
  it.each(['app', 'App_1.x', 'example.com/app', `${'a'.repeat(253)}/${'b'.repeat(63)}`])(
    'accepts %j',
    (text) => {
      expect(isQualifiedName(text)).toBe(true);
    },
  );
  it.each(['', '/app', 'example.com/', 'Example.com/app', 'a/b/c', '-a', `a/${'b'.repeat(64)}`])(
    'refuses %j',
    (text) => {
      expect(isQualifiedName(text)).toBe(false);
    },
  );
});
