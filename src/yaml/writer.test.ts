import fc from 'fast-check';
import { CORE_SCHEMA, load, YAML11_SCHEMA } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseJson, stringifyJson } from '../json/json-text.ts';
import { anyText } from '../json/text.testing.ts';
import type { Json } from '../json/value.ts';
import { kubernetesResourceSchema } from './kubernetes-schema.ts';
import { writeYaml } from './writer.ts';

describe('layout', () => {
  test('is that of kubectl', () => {
    const text = writeYaml({
      kind: 'Pod',
      metadata: { name: 'web', labels: {}, finalizers: [] },
      spec: { containers: [{ name: 'a', args: ['x', ['y', 'z']] }, {}], replicas: 2, on: true, off: null },
      data: { script: 'one\ntwo\n', keep: 'a\n\n', strip: 'a\nb', tabs: 'a\n\tb\n' },
    });
    expect(text).toBe(
      `kind: Pod
metadata:
  name: web
  labels: {}
  finalizers: []
spec:
  containers:
  - name: a
    args:
    - x
    - - 'y'
      - z
  - {}
  replicas: 2
  "on": true
  "off": null
data:
  script: |
    one
    two
  keep: |+
    a

  strip: |-
    a
    b
  tabs: |
    a
    \tb
`.replace("'y'", '"y"'),
    );
  });
});

test.each([
  ['plain', 'plain'],
  ['with space', 'with space'],
  ['docker.io/library/nginx:1.25', 'docker.io/library/nginx:1.25'],
  ['1.2.3', '1.2.3'],
  ['100m', '100m'],
  ['-Xmx512m', '-Xmx512m'],
  [':8080', ':8080'],
  ['a#b', 'a#b'],
  ['größe', 'größe'],
  ['yes', '"yes"'],
  ['n', '"n"'],
  ['1e3', '"1e3"'],
  ['0o7', '"0o7"'],
  ['0777', '"0777"'],
  ['null', '"null"'],
  ['~', '"~"'],
  ['', '""'],
  ['2001-01-01', '"2001-01-01"'],
  ['12:30:45', '"12:30:45"'],
  ['1_000', '"1_000"'],
  ['1e400', '"1e400"'],
  ['.inf', '".inf"'],
  ['<<', '"<<"'],
  ['*', "'*'"],
  ['{{ request.object }}', "'{{ request.object }}'"],
  ['a: b', "'a: b'"],
  ["it's: so", "'it''s: so'"],
  ['- a', "'- a'"],
  ['# no', "'# no'"],
  ['a #b', "'a #b'"],
  ['---', "'---'"],
  [' a', "' a'"],
  ['a\tb', '"a\\tb"'],
  ['\u2028', '"\\u2028"'],
])('the string %j is written as %s', (text, expected) => {
  expect(writeYaml({ a: text })).toBe(`a: ${expected}\n`);
});

const scalarish = fc.oneof(
  fc.string(),
  anyText(),
  fc.stringMatching(/^[-+.0-9eExXob_:TZ ]{0,8}$/),
  fc.constantFrom(
    'y',
    'No',
    'on',
    'null',
    '=',
    '<<',
    '---',
    '...',
    '- a',
    'a\n',
    '\n',
    'a\n\n',
    ' a\nb',
    'a \nb',
    'a\r\nb',
  ),
);
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalarish,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(scalarish, tie('value'), { maxKeys: 4 }),
  ),
})).value;

const readers: Record<string, (text: string) => unknown> = {
  'the resource reader': (text) => load(text, { schema: kubernetesResourceSchema }),
  'a YAML 1.2 reader': (text) => load(text, { schema: CORE_SCHEMA }),
  'a YAML 1.1 reader': (text) => load(text, { schema: YAML11_SCHEMA }),
  'another YAML 1.2 reader': (text) => parse(text, { version: '1.2' }),
  'another YAML 1.1 reader': (text) => parse(text, { version: '1.1' }),
};

test.each(Object.keys(readers))('%s reads back what was written', (name) => {
  fc.assert(
    fc.property(value, (original) => {
      const read = readers[name]?.(writeYaml({ root: original }));
      expect(parseJson(stringifyJson(read))).toEqual(parseJson(stringifyJson({ root: original })));
    }),
    { numRuns: 500 },
  );
});
