import { describe, expect, it } from 'vitest';
import { readDocuments } from './documents.ts';

function read(text: string) {
  return readDocuments({ file: 'f.yaml', text });
}

function values(text: string) {
  const { documents, problems } = read(text);
  expect(problems).toEqual([]);
  return documents.map((document) => document.value);
}

function problems(text: string) {
  return read(text).problems.map(({ code, line, column }) => ({ code, line, column }));
}

describe('reading documents', () => {
  it('reads many documents, and passes over empty ones', () => {
    expect(values('a: 1\n---\n# nothing\n---\nb: 2\n---\n')).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it('reads JSON', () => {
    expect(values('{"a": [true, null, 1.5],\n\t"b": "\\ud83d\\ude00"}')).toEqual([
      { a: [true, null, 1.5], b: '😀' },
    ]);
  });

  it('takes the items of a List as documents', () => {
    expect(values('kind: List\nitems:\n- {a: 1}\n- {kind: ClusterPolicyList, items: [{b: 2}]}\n')).toEqual([
      { a: 1 },
      { b: 2 },
    ]);
    expect(values('kind: ClusterPolicyList\nitems:\n')).toEqual([]);
  });

  it.each([
    ['yes', true],
    ['Off', false],
    ['y', true],
    ['0644', 420],
    ['0o17', 15],
    ['089', 89],
    ['1_000', 1000],
    ['2020-01-01', '2020-01-01'],
    ['12:30:45', '12:30:45'],
    ['"yes"', 'yes'],
    ['!!str 12', '12'],
    ['!!binary aGVsbG8=', 'hello'],
    ['', null],
    ['|-\n  a\n  b', 'a\nb'],
  ])('reads %s as Kubernetes does', (text, value) => {
    expect(values(`a: ${text}\n`)).toEqual([{ a: value }]);
  });

  it('turns keys that are not text into text', () => {
    expect(values('1: a\ntrue: b\n1.5: c\non: d\n'.replace('on: d\n', ''))).toEqual([
      { 1: 'a', true: 'b', '1.5': 'c' },
    ]);
  });

  it('keeps __proto__ and constructor as data', () => {
    const [value] = values('__proto__: {polluted: true}\nconstructor: 1\n');
    expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it('follows aliases and merge keys; own keys win over merged ones', () => {
    expect(values('a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\nd:\n  <<: [*x, {r: 4}]\n')).toEqual([
      { a: { p: 1, q: 2 }, b: { p: 1, q: 2 }, c: { p: 1, q: 3 }, d: { p: 1, q: 2, r: 4 } },
    ]);
  });
});

describe('positions', () => {
  const { documents } = read(
    'first: 1\n---\nmetadata:\n  name: x\nspec:\n  rules:\n  - name: a\n  - name: b\n',
  );
  const second = documents[1];

  it.each([
    [[], 3, 1],
    [['metadata', 'name'], 4, 3],
    [['spec', 'rules', 1], 8, 5],
    [['spec', 'rules', 1, 'name'], 8, 5],
    [['spec', 'rules', 1, 'absent', 'deeper'], 8, 5],
  ])('of %j', (path, line, column) => {
    expect(second?.positionOf(path)).toEqual({ line, column });
  });

  it('of an item of a List are those in the file', () => {
    const { documents: items } = read('kind: List\nitems:\n- kind: A\n- kind: B\n');
    expect(items[1]?.positionOf(['kind'])).toEqual({ line: 4, column: 3 });
  });
});

describe('broken input', () => {
  it('loses only the broken document', () => {
    const { documents, problems: found } = read('a: 1\n---\nb: "unclosed\n---\nc: 3\n');
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { c: 3 }]);
    expect(found).toMatchObject([{ code: 'KYM_YAML_SYNTAX', file: 'f.yaml', line: 4 }]);
  });

  it.each([
    ['a tab for indentation', 'a:\n\tb: 1\n', 'KYM_YAML_SYNTAX', 2],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'KYM_YAML_SYNTAX', 3],
    ['keys that are one after reading', 'yes: 1\ntrue: 2\n', 'KYM_YAML_SYNTAX', 2],
    ['a null key', 'a: 1\nnull: 2\n', 'KYM_YAML_SYNTAX', 2],
    ['a list as key', 'a: 1\n? [b]\n: 2\n', 'KYM_YAML_SYNTAX', 2],
    ['infinity', 'a: 1\nb: .inf\n', 'KYM_YAML_SYNTAX', 2],
    ['an alias without anchor', 'a: 1\nb: *x\n', 'KYM_YAML_SYNTAX', 2],
    ['an alias inside its anchor', 'a: &x\n  b: *x\n', 'KYM_YAML_ALIASES', 2],
    ['text instead of an object', 'just text\n', 'KYM_YAML_SYNTAX', 1],
    ['a list instead of an object', '\n- a\n', 'KYM_YAML_SYNTAX', 2],
    ['merging a scalar', 'a: 1\nb:\n  <<: 5\n', 'KYM_YAML_SYNTAX', 3],
  ])('%s', (_, text, code, line) => {
    expect(problems(text)).toMatchObject([{ code, line }]);
  });

  it.each([
    ['lists', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['maps', '{a: '.repeat(10_000) + '}'.repeat(10_000)],
    ['open lists', `a: ${'['.repeat(1_000_000)}`],
    ['block lists', `${'- '.repeat(10_000)}a`],
    ['keys', `${'? '.repeat(10_000)}a`],
  ])('%s nested too deeply are refused at once', (_, text) => {
    const start = process.cpuUsage().user;
    expect(problems(text)).toMatchObject([{ code: 'KYM_INPUT_TOO_DEEP', line: 1 }]);
    expect(process.cpuUsage().user - start).toBeLessThan(2_000_000);
  });

  it('200 levels are no problem', () => {
    expect(problems(`a: ${'['.repeat(200)}${']'.repeat(200)}`)).toEqual([]);
  });

  it('an alias bomb is refused before it is expanded', () => {
    const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(10)}]`);
    const bomb = `l0: &l0 [x]\n${levels.join('\n')}\n`;
    expect(problems(bomb)).toMatchObject([{ code: 'KYM_YAML_ALIASES' }]);
  });

  it('more than 10 MB are refused', () => {
    expect(problems(`a: ${'x'.repeat(10 * 1024 * 1024)}`)).toMatchObject([{ code: 'KYM_INPUT_TOO_LARGE' }]);
  });
});
