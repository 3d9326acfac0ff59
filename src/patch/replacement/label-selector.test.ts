import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const labels = { app: 'web', tier: 'front', n: '5', empty: '' };

describe('label selectors', () => {
  it.each([
    ['', true],
    ['app=web', true],
    [' app  ==  web ', true],
    ['app!=web', false],
    ['none!=web', true],
    ['app in (api, web)', true],
    ['app in(web)', true],
    ['app notin (web)', false],
    ['none notin (web)', true],
    ['app', true],
    ['none', false],
    ['!none', true],
    ['! app', false],
    ['empty=', true],
    ['empty in ()', true],
    ['app=,tier', false],
    ['n>4,n<6', true],
    ['n>5', false],
    ['app>1', false],
    ['app=web,tier in (front),!none', true],
    ['app=web,tier=back', false],
    ['toString', false],
  ])('%j: %s', (text, fits) => {
    expect(parseLabelSelector(text, { strict: true })(labels)).toBe(fits);
  });

  it.each([
    ['app=web tier=front', /expected: ',' or 'end of string'/],
    ['app in (a', /expected: ',' or '\)'/],
    ['app in a', /expected: '\('/],
    ['app web', /expected: in, notin, =/],
    ['app=web,', /identifier after ','/],
    [',app', /expected: identifier/],
    ['=web', /expected: identifier/],
    ['!', /expected: identifier/],
    ['n>x', /must be an integer/],
    ['app==(', /expected: identifier/],
  ])('%j is refused', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  it.each([
    'app=a/b',
    `app=${'x'.repeat(64)}`,
    'app=-x',
    'a_b/c=d',
    '-a',
    'app in (a,b/c)',
    'example.com/a/b',
  ])('%j is refused where labels have to be valid, and taken elsewhere', (text) => {
    expect(() => parseLabelSelector(text, { strict: true })).toThrow(/is not a valid label/);
    expect(() => parseLabelSelector(text)).not.toThrow();
  });

  it('takes a map of equalities, whatever the values', () => {
    const test = parseLabelSelector({ note: 'a/b, c=d', app: 'web' }, { strict: true });
    expect(test({ note: 'a/b, c=d', app: 'web' })).toBe(true);
    expect(test({ app: 'web' })).toBe(false);
  });
});
