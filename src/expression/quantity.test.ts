import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  addQuantities,
  approximateNumber,
  compareQuantities,
  divideQuantities,
  formatQuantity,
  multiplyQuantities,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from './quantity.ts';

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new Error(`${text} is no quantity`);
  return parsed;
}

describe('parseQuantity and formatQuantity', () => {
  test.each([
    ['0', '0'],
    ['00', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['-1', '-1'],
    ['1.5', '1500m'],
    ['.25', '250m'],
    ['3.', '3'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['100000', '100k'],
    ['1000m', '1'],
    ['1024', '1024'],
    ['1Ki', '1Ki'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['100Ei', '9223372036854775807'],
    ['-100Ei', '-9223372036854775807'],
    ['12e6', '12e6'],
    ['12E6', '12e6'],
    ['1e4', '10e3'],
    ['5E', '5E'],
    ['1000E', '1000E'],
    ['12345678901234567890', '12345678901234567890'],
    ['Ki', '0'],
  ])('%s is %s', (text, canonical) => {
    expect(formatQuantity(quantity(text))).toBe(canonical);
  });

  test.each([
    '',
    'abc',
    '1h',
    '1 Gi',
    '1KI',
    '1ki',
    '1e',
    '1.2.3',
    '--1',
    '1Gi1',
    'Ei',
    'e-3',
    '1e99999',
    '9'.repeat(500),
  ])('%j is no quantity', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  it('keeps the value through a round trip', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3');
    fc.assert(
      fc.property(
        fc.integer({ min: -99_999, max: 99_999 }),
        fc.integer({ min: 0, max: 999 }),
        suffix,
        (a, b, c) => {
          const value = quantity(`${a}.${b}${c}`);
          expect(compareQuantities(quantity(formatQuantity(value)), value)).toBe(0);
        },
      ),
    );
  });
});

test.each([
  ['1Gi', '1024Mi', 0],
  ['10', '10.0', 0],
  ['1', '500m', 1],
  ['1k', '1Ki', -1],
  ['-1', '0', -1],
  ['1e3', '1k', 0],
])('%s compares to %s as %d', (a, b, order) => {
  expect(compareQuantities(quantity(a), quantity(b))).toBe(order);
});

describe('arithmetic', () => {
  test.each([
    ['10Mi', '10Mi', '20Mi'],
    ['1', '1Ki', '1025'],
    ['0', '1Ki', '1Ki'],
    ['1Gi', '512M', '1548576Ki'],
    ['500m', '500m', '1'],
  ])('%s + %s = %s', (a, b, result) => {
    expect(formatQuantity(addQuantities(quantity(a), quantity(b)))).toBe(result);
  });

  it('subtracts', () => {
    expect(formatQuantity(subtractQuantities(quantity('1Gi'), quantity('1Mi')))).toBe('1023Mi');
  });

  it('multiplies and never loses a suffix', () => {
    expect(formatQuantity(multiplyQuantities(quantity('1Ki'), quantity('3')))).toBe('3Ki');
    expect(formatQuantity(multiplyQuantities(quantity('1E'), quantity('1000')))).toBe('1000E');
    expect(formatQuantity(multiplyQuantities(quantity('1Ei'), quantity('1024')))).toBe('1024Ei');
    expect(formatQuantity(multiplyQuantities(quantity('1n'), quantity('0.5')))).toBe('1n');
  });

  test.each([
    ['10Gi', '2', '5Gi'],
    ['1', '3', '0'],
    ['1.0', '3', '300m'],
    ['-7', '2', '-3'],
    ['1k', '0.5', '2k'],
  ])('%s / %s = %s, cut to the places of the operands', (a, b, result) => {
    expect(formatQuantity(divideQuantities(quantity(a), quantity(b)))).toBe(result);
  });

  it('gives numbers', () => {
    expect([approximateNumber(quantity('1500m')), approximateNumber(quantity('2Ki'))]).toEqual([1.5, 2048]);
  });
});
