import fc from 'fast-check';
import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json/value.ts';
import { kubernetesResourceSchema } from './kubernetes-schema.ts';
import { readSimpleYaml } from './simple-yaml.ts';
import { writeYaml } from './writer.ts';

const readWhole = (text: string) => loadAll(text, { schema: kubernetesResourceSchema });

const sample = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   
  labels: {}
  annotations:
    "example.com/a": 'it''s'
    note: "a \\"b\\" \\n c"
# a comment

spec:
  replicas: 2
  paused: no
  empty:
  finalizers: []
  template:
    spec:
      containers:
      - name: a
        image: nginx:1.25
        args: 
        - --port=80
        - -v
        - "3"
        - - nested
          - x: 1
            y2: ~
        -
          name: indented
      -   name: far
          ports:
            - 80
            - 0x1F
      - plain
`;

test('the plain kind of YAML is read as the parser reads it', () => {
  const value = readSimpleYaml(sample);
  expect(value).toBeDefined();
  expect([value]).toStrictEqual(readWhole(sample));
});

describe('anything else is left to the parser', () => {
  test.each([
    ['an anchor', 'a: &x 1\n'],
    ['an alias', 'a: *x\n'],
    ['a tag', 'a: !!str 1\n'],
    ['a block scalar', 'a: |\n  x\n'],
    ['a flow map', 'a: {b: 1}\n'],
    ['a comment after a value', 'a: b # c\n'],
    ['a comment after a key', 'a: # c\n  b: 1\n'],
    ['a value over several lines', 'a: b\n  c\n'],
    ['quotes over several lines', 'a: "b\n  c"\n'],
    ['an escape of YAML', 'a: "\\x41"\n'],
    ['a key given twice', 'a: 1\na: 2\n'],
    ['a merge key', '<<: 1\n'],
    ['a key that is no text', 'yes: 1\n'],
    ['a number as key', '1: a\n'],
    ['__proto__', '__proto__: 1\n'],
    ['a tab', 'a:\t1\n'],
    ['Windows line ends', 'a: 1\r\n'],
    ['bad indentation', 'a:\n    b: 1\n  c: 2\n'],
    ['a list at the top', '- a\n'],
    ['infinity', 'a: .inf\n'],
    ['a colon in a value', 'a: b: c\n'],
    ['no key', 'a\n'],
    ['too deep', `a:\n${Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth + 1)}a:\n`).join('')}`],
  ])('%s', (_, text) => {
    expect(readSimpleYaml(text)).toBeUndefined();
  });
});

const word = fc.constantFrom(
  'a',
  'b-c',
  'x.y/z',
  'nginx:1.25',
  '100m',
  '1',
  'yes',
  '',
  ' ',
  '-',
  ':',
  '#',
  "it's",
  '"',
  '- a',
  'a: b',
  '{}',
  '0777',
  '~',
  '<<',
  '*',
  'größe',
  'a #b',
  'x:',
  '-v',
  '.5',
  '\\',
  'two words',
);
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(word, tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** What the parser says, or that it refuses. */
function agreesWithParser(text: string): void {
  const simple = readSimpleYaml(text);
  if (simple === undefined) return;
  let whole: unknown;
  try {
    whole = readWhole(text);
  } catch (error) {
    throw new Error(`the parser refuses what was read: ${String(error)}\n${text}`);
  }
  expect([simple]).toStrictEqual(whole);
}

test('what is printed is read back alike', () => {
  fc.assert(
    fc.property(value, (root) => agreesWithParser(writeYaml({ kind: 'A', root }))),
    { numRuns: 2000 },
  );
});

test('text damaged anywhere is read as the parser reads it, or left to it', () => {
  const snippet = fc.constantFrom(
    '',
    ' ',
    '  ',
    '\n',
    '- ',
    ':',
    ': ',
    '#',
    ' #',
    "'",
    '"',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '|',
    '>',
    '? ',
    '!',
    '%',
    '@',
    ',',
    '-',
    'a',
    '\n  ',
    '\n- ',
    '...',
    '---',
    '~',
    '0',
  );
  const edit = fc.tuple(fc.nat(), fc.nat({ max: 4 }), snippet);
  fc.assert(
    fc.property(
      fc.oneof(
        value.map((root) => writeYaml({ kind: 'A', root })),
        fc.constant(sample),
      ),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      (text, edits) => {
        let damaged = text;
        for (const [at, count, insert] of edits) {
          const place = at % (damaged.length + 1);
          damaged = damaged.slice(0, place) + insert + damaged.slice(place + count);
        }
        agreesWithParser(damaged);
      },
    ),
    { numRuns: 5000 },
  );
});
