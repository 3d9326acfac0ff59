import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, it, test } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import { kubernetesResourceSchema } from '../../yaml/kubernetes-schema.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { editYaml } from './yaml-edit.ts';

const read = (text: string) => load(text, { schema: kubernetesResourceSchema }) as JsonObject;

test('comments, quotes and order stay where something else changes', () => {
  const text = `# head
apiVersion: v1
kind: Pod # kind
metadata:
  name: 'web'
  # labels are for humans
  labels:
    b: "1" # quoted
    a: x
spec:
  containers:
  # the first
  - name: a
    args: [x, "y"] # flow
  - name: gone
  # the last
  - name: c
`;
  const before = read(text);
  const after = {
    ...before,
    metadata: { name: 'web', labels: { b: '1', a: 'z', new: 'yes' } },
    spec: { containers: [{ name: 'first' }, { name: 'a', args: ['x', 'y'], tty: true }, { name: 'c' }] },
  };
  const edited = editYaml(text, before, after);
  expect(read(edited)).toEqual(after);
  expect(edited).toBe(`# head
apiVersion: v1
kind: Pod # kind
metadata:
  name: 'web'
  # labels are for humans
  labels:
    b: "1" # quoted
    a: z
    new: "yes"
spec:
  containers:
  # the first
  - name: first
  - name: a
    args: [x, "y"] # flow
    tty: true
  # the last
  - name: c
`);
});

test('comments at the head alone cost no parsing and stay', () => {
  const text = '# Source: chart/pod.yaml\n\n# two\napiVersion: v1\nkind: Pod\n';
  expect(editYaml(text, read(text), { apiVersion: 'v1', kind: 'Pod', a: 1 })).toBe(`${text}a: 1\n`);
});

test('lists that stand further right than their key stay there', () => {
  const text = 'apiVersion: v1\nkind: A # x\nlist:\n  - 1\n';
  expect(editYaml(text, read(text), { apiVersion: 'v1', kind: 'A', list: [1, 2] })).toBe(`${text}  - 2\n`);
});

test.each([
  [
    'an alias',
    'apiVersion: v1\nkind: A # x\nbase: &b {a: 1}\nsame: *b\n',
    (object: JsonObject) => ({ ...object, same: { a: 2 } }),
  ],
  [
    'a merge key',
    'apiVersion: v1\nkind: A # x\nbase: &b {a: 1}\nsame:\n  <<: *b\n',
    (object: JsonObject) => ({ ...object, same: { a: 2 } }),
  ],
  [
    'a key that is no text',
    'apiVersion: v1\nkind: A # x\nyes: {a: 1}\n',
    (object: JsonObject) => ({ ...object, true: { a: 2 } }),
  ],
  [
    'old octal numbers',
    'apiVersion: v1\nkind: A # x\nmode: 0777\n',
    (object: JsonObject) => ({ ...object, b: 1 }),
  ],
])('%s: the text means the wanted object in any case', (_, text, change) => {
  const before = read(text);
  expect(read(editYaml(text, before, change(before)))).toEqual(change(before));
});

test('any change of any commented text means the wanted object', () => {
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('a', 'yes', '1', 'a: b', 'x\ny\n', '# no'),
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'on', '1'), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const object = value.map((root) => ({ apiVersion: 'v1', kind: 'A', root }));
  fc.assert(
    fc.property(object, object, (before, after) => {
      const text = writeYaml(before).replace('kind: A', 'kind: A # comment');
      expect(read(editYaml(text, before, after))).toEqual(after);
    }),
    { numRuns: 200 },
  );
});

describe('Windows line endings', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { text: 'a\nb\n' } };
  const after = { ...object, data: { text: 'a\nc\n' } };
  it.each([
    [
      'with comments',
      '# head\n\napiVersion: v1 # v\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  text: |\n    a\n    b\n',
    ],
    [
      'without comments',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  text: |\n    a\n    b\n',
    ],
  ])('%s are kept by a change', (_, text) => {
    const edited = editYaml(text.replaceAll('\n', '\r\n'), object, after);
    expect(edited).toBe(text.replace('    b', '    c').replaceAll('\n', '\r\n'));
    expect(read(edited)).toEqual(after);
  });
});
