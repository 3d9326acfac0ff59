import { expect, test } from 'vitest';
import { NonFiniteNumberError, resolveYamlScalar } from './scalar.ts';

// Every row was read by Kubernetes' own YAML reader.
test.each([
  ['yes', true],
  ['on', true],
  ['Off', false],
  ['y', true],
  ['N', false],
  ['TRUE', true],
  ['tRue', 'tRue'],
  ['', null],
  ['~', null],
  ['NULL', null],
  ['nul', 'nul'],
  ['0777', 511],
  ['0o777', 511],
  ['-0777', -511],
  ['08', 8],
  ['0x1F', 31],
  ['0b11', 3],
  ['1_000', 1000],
  ['1__0', 10],
  ['_1', '_1'],
  ['0x', '0x'],
  ['1e3', 1000],
  ['1.5e3', 1500],
  ['12e03', 12000],
  ['1e+3', 1000],
  ['.5', 0.5],
  ['0.1e-2', 0.001],
  ['1.', 1],
  ['1.0', 1],
  ['+1', 1],
  ['-0', 0],
  ['1e400', '1e400'],
  ['99999999999999999999999', 99999999999999999999999n],
  ['18446744073709551615', 18446744073709551615n],
  ['0xFFFFFFFFFFFFFFFFF', '0xFFFFFFFFFFFFFFFFF'],
  ['12:30:45', '12:30:45'],
  ['2001-01-01', '2001-01-01'],
  ['2001-12-14t21:59:43.10-05:00', '2001-12-14t21:59:43.10-05:00'],
  ['=', '='],
  ['-', '-'],
  ['.', '.'],
  ['1.2.3', '1.2.3'],
  ['constructor', 'constructor'],
])('plain %j is read as %s', (text, value) => {
  expect(resolveYamlScalar(text)).toStrictEqual(value);
});

test.each(['.inf', '-.inf', '+.Inf', '.nan'])('%s cannot be held by JSON', (text) => {
  expect(() => resolveYamlScalar(text)).toThrow(NonFiniteNumberError);
});
