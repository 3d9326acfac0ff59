import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mutatingPolicyEnvironment } from './environments.ts';
import { compileCel, compileUnchecked } from './expression.ts';
import { compare, equals } from './value/compare.ts';
import { CelError } from './value/error.ts';
import { toJson } from './value/json.ts';
import type { Value } from './value/value.ts';

const environment = mutatingPolicyEnvironment();
const effects = { now: () => new Date(0), random: () => 0 };

const token = fc.constantFrom(
  ...'object request variables x . .? [ ] [? { } ( ) , : ? && || ! - + * / % == < in has all exists map'.split(
    ' ',
  ),
  ...'Object JSONPatch op path value optional.of orValue size string int duration math.greatest cel.bind'.split(
    ' ',
  ),
  ...['"a"', "'b'", '1', '2u', '3.5', 'true', 'null', 'b"c"', '`d`', '\n', '"', '\\'],
);

describe('any text', () => {
  test('gives problems with positions, or an expression that only fails with CelError', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 25 }), fc.jsonValue(), (tokens, object) => {
        const source = tokens.join(' ');
        for (const compile of [compileCel, compileUnchecked]) {
          const { expression, problems } = compile(source, environment);
          for (const { line, column, offset } of problems) {
            expect(line >= 1 && column >= 1 && offset <= source.length).toBe(true);
          }
          try {
            expression?.evaluate({
              lookup: (name) => (name === 'object' ? (object as Value) : undefined),
              effects,
            });
          } catch (error) {
            expect(error).toBeInstanceOf(CelError);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('values', () => {
  test('JSON stays JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (object) => {
        expect(toJson(object as Value)).toEqual(object);
      }),
    );
  });

  test('equality is reflexive and symmetric, and agrees with order', () => {
    const value = fc.oneof(fc.jsonValue(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [x, y] = [a as Value, b as Value];
        expect(equals(x, x)).toBe(true);
        expect(equals(x, y)).toBe(equals(y, x));
        if (typeof x === typeof y && (typeof x === 'string' || typeof x === 'bigint')) {
          expect(compare(x, y) === 0).toBe(equals(x, y));
        }
      }),
    );
  });
});
