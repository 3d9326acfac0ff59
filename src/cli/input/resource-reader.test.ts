import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ReadItem } from '../../offline/resource-documents.ts';
import { readDocuments } from '../../policy/documents.ts';
import { readResources } from './resource-reader.ts';

async function* stdin(text: string | Uint8Array) {
  yield text;
}

async function read(text: string | Uint8Array): Promise<ReadItem[]> {
  const items: ReadItem[] = [];
  const io = { stdin: stdin(text), cwd: '/' };
  for await (const item of readResources([{ file: '-', discovered: false }], io)) items.push(item);
  return items;
}

async function objects(text: string) {
  return (await read(text)).map((item) => ('object' in item ? item.object : item.problem));
}

async function problem(text: string | Uint8Array) {
  const [item] = await read(text);
  if (item === undefined || !('problem' in item)) throw new Error('a problem was expected');
  return item.problem;
}

const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });

describe('forms of input', () => {
  test('documents of YAML, each with its text', async () => {
    const text =
      '# first\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n';
    const items = await read(text);
    expect(items).toEqual([
      { object: pod('a'), file: '(stdin)', line: 1, discovered: false, text: text.split('---\n')[0] },
      { object: pod('b'), file: '(stdin)', line: 6, discovered: false, text: text.split('---\n')[1] },
    ]);
  });

  test('a JSON object, objects one after another, one per line, and a list of them', async () => {
    expect(await objects(JSON.stringify(pod('a'), null, 2))).toEqual([pod('a')]);
    expect(await objects(`${JSON.stringify(pod('a'))}${JSON.stringify(pod('b'))}`)).toEqual([
      pod('a'),
      pod('b'),
    ]);
    expect(await objects(`${JSON.stringify(pod('a'))}\n${JSON.stringify(pod('b'))}\n`)).toEqual([
      pod('a'),
      pod('b'),
    ]);
    expect(await objects(JSON.stringify([pod('a'), pod('b')]))).toEqual([pod('a'), pod('b')]);
  });

  test('lists are taken apart; a typed list lends its kind', async () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [pod('a'), { apiVersion: 'v1', kind: 'List', items: [pod('b')] }],
    };
    expect(await objects(JSON.stringify(list))).toEqual([pod('a'), pod('b')]);
    const typed = { apiVersion: 'v1', kind: 'PodList', items: [{ metadata: { name: 'a' } }] };
    expect(await objects(JSON.stringify(typed))).toEqual([pod('a')]);
  });

  test('YAML in flow style, with a byte order mark, with an end marker', async () => {
    expect(
      await objects(
        '{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}',
      ),
    ).toEqual([pod('a'), pod('b')]);
    expect(await read(new TextEncoder().encode(`\ufeff${JSON.stringify(pod('a'))}`))).toMatchObject([
      { object: pod('a') },
    ]);
    expect(await objects('apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n...\n')).toEqual([pod('a')]);
  });

  test('nothing', async () => {
    const empty = {
      code: 'KYM_INPUT_NOT_FOUND',
      severity: 'warning',
      message: 'the input contains no object',
    };
    for (const text of ['', '# only a comment\n---\n']) {
      expect(await read(text)).toEqual([{ problem: expect.objectContaining(empty) }]);
    }
  });

  test('a key named __proto__ is data', async () => {
    const [fromYaml] = await objects('apiVersion: v1\nkind: A\n__proto__: {x: 1}\nconstructor: 2\n');
    const [fromJson] = await objects('{"apiVersion":"v1","kind":"A","__proto__":{"x":1},"constructor":2}');
    for (const object of [fromYaml, fromJson]) {
      expect(Object.keys(object ?? {})).toEqual(['apiVersion', 'kind', '__proto__', 'constructor']);
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    }
  });
});

describe('bad input', () => {
  test('broken YAML names line and column, and the other documents are still read', async () => {
    const items = await read('apiVersion: v1\nkind: Pod\n---\na: [1\n---\napiVersion: v1\nkind: Pod\n');
    expect(items).toMatchObject([
      { object: { kind: 'Pod' } },
      { problem: { code: 'KYM_YAML_SYNTAX', file: '(stdin)', severity: 'error', line: 5 } },
      { object: { kind: 'Pod' } },
    ]);
  });

  test.each([
    ['a key given twice', 'apiVersion: v1\nkind: A\nkind: B\n', 'KYM_YAML_SYNTAX', 3],
    ['no kind', 'apiVersion: v1\n', 'KYM_NOT_AN_OBJECT', 1],
    ['no apiVersion', 'kind: A\n', 'KYM_NOT_AN_OBJECT', 1],
    ['plain text', 'hello\n', 'KYM_NOT_AN_OBJECT', 1],
    ['infinity', 'apiVersion: v1\nkind: A\nx: .inf\n', 'KYM_YAML_SYNTAX', 1],
    ['a null key', 'apiVersion: v1\nkind: A\n~: 1\n', 'KYM_YAML_SYNTAX', 3],
    ['an unknown alias', 'apiVersion: v1\nkind: A\nx: *a\n', 'KYM_YAML_SYNTAX', 3],
    ['an alias in itself', 'apiVersion: v1\nkind: A\nx: &a [*a]\n', 'KYM_YAML_ALIASES', 1],
    [
      'JSON nested too deeply',
      `{"apiVersion":"v1","kind":"A","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      'KYM_INPUT_TOO_DEEP',
      1,
    ],
    [
      'YAML nested too deeply',
      `apiVersion: v1\nkind: A\nx: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n`,
      'KYM_INPUT_TOO_DEEP',
      3,
    ],
    [
      'an object of 10 MB',
      `apiVersion: v1\nkind: A\nx: ${'y'.repeat(10_000_000)}\n`,
      'KYM_INPUT_TOO_LARGE',
      1,
    ],
    [
      'an object of 10 MB in JSON',
      JSON.stringify({ ...pod('a'), x: 'y'.repeat(10_000_000) }),
      'KYM_INPUT_TOO_LARGE',
      1,
    ],
  ])('%s', async (_, text, code, line) => {
    expect(await problem(text)).toMatchObject({ code, line });
  });

  test('an alias bomb is measured, not blown up', async () => {
    let bomb = 'apiVersion: v1\nkind: A\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n';
    for (let level = 1; level < 30; level++) {
      bomb += `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]\n`;
    }
    expect(await problem(bomb)).toMatchObject({ code: 'KYM_INPUT_TOO_LARGE' });
  });

  test('a chain of aliases that nests too deeply', async () => {
    let chain = 'apiVersion: v1\nkind: A\na0: &a0 [x]\n';
    for (let level = 1; level < 900; level++) chain += `a${level}: &a${level} [*a${level - 1}]\n`;
    expect(await problem(chain)).toMatchObject({ code: 'KYM_INPUT_TOO_DEEP' });
  });

  test('bytes that are not UTF-8', async () => {
    await expect(read(new Uint8Array([0x61, 0x3a, 0xff]))).rejects.toMatchObject({
      problems: [{ code: 'KYM_INPUT_UNREADABLE', message: 'the file is not UTF-8 text' }],
    });
  });

  test('a file found in a folder that is no Kubernetes object is only a warning', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kymera-'));
    await writeFile(join(folder, 'values.yaml'), 'image: nginx\n');
    const items: ReadItem[] = [];
    const inputs = [{ file: 'values.yaml', discovered: true }];
    for await (const item of readResources(inputs, { stdin: stdin(''), cwd: folder })) items.push(item);
    expect(items).toMatchObject([
      { problem: { code: 'KYM_NOT_AN_OBJECT', severity: 'warning', file: 'values.yaml' } },
    ]);
  });
});

// Policies are read by another parser: a value must mean the same to both.
describe('both parsers read a resource alike', () => {
  const scalars =
    `yes on Off y N TRUE True tRue ~ NULL null 0777 0o777 -0777 08 0x1F 0b11 1_000 1__0 _1 0x 1e3 1.5e3 .5 1. 1.0
    +1 -0 1e400 99999999999999999999999 9007199254740993 18446744073709551615 12:30:45 2001-01-01
    2001-12-14t21:59:43.10-05:00 = "yes" 'no' !!str 12 "" '' 1.2.3 100m 1Gi "0777" . .. plain`
      .replace('!!str 12', '!!str,12')
      .split(/\s+/)
      .map((text) => text.replace(',', ' '));
  const header = 'apiVersion: v1\nkind: A\n';
  const documents = [
    ...scalars.map((text) => `${header}x: ${text}\n`),
    ...['yes', '1', '1.5', 'on', '0777', '"1"', 'null-ish'].map((key) => `${header}${key}: value\n`),
    `${header}base: &base {a: 1, b: 2}\nmerged:\n  <<: *base\n  b: 3\n`,
    `${header}one: &one {a: 1}\ntwo: &two {a: 2, b: 2}\nmerged:\n  <<: [*one, *two]\n  c: 3\n`,
    `${header}list: &list [1, yes, ~]\nsame: *list\n`,
    `${header}text: |\n  a\n  b\nkept: |+\n  a\n\nfolded: >-\n  a\n  b\n\n  c\n`,
    `${header}empty:\nmap: {}\nlist: []\n`,
    `${header}binary: !!binary aGVsbG8=\n`,
    `${header}"quoted key": 'it''s'\n? complex\n: value\n`,
    `${header}windows: line\r\nends: here\r\n`,
    `${header}__proto__: {x: 1}\n`,
  ];

  test.each(documents.map((text) => [text]))('%j', async (text) => {
    const [bulk] = await objects(text);
    const { documents: careful, problems } = readDocuments({ file: 'x', text });
    expect(problems).toEqual([]);
    expect(bulk).toStrictEqual(careful[0]?.value);
  });
});
