import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DocumentText, splitDocuments } from './document-stream.ts';

async function* inChunks(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function split(text: string, size = text.length || 1): Promise<DocumentText[]> {
  const documents: DocumentText[] = [];
  for await (const document of splitDocuments(inChunks(text, size))) documents.push(document);
  return documents;
}

test.each<[string, string, DocumentText[]]>([
  ['one document', 'a: 1\n', [{ text: 'a: 1\n', line: 1 }]],
  ['a leading marker', '---\na: 1\n', [{ text: 'a: 1\n', line: 2 }]],
  [
    'two documents',
    'a: 1\n---\nb: 2\n',
    [
      { text: 'a: 1\n', line: 1 },
      { text: 'b: 2\n', line: 3 },
    ],
  ],
  ['a comment on the marker', '--- # first\na: 1\n', [{ text: 'a: 1\n', line: 2 }]],
  ['content on the marker line', '--- {a: 1}\n', [{ text: '--- {a: 1}\n', line: 1 }]],
  ['empty documents', '---\n---\n# note\n---\n\n', []],
  ['a directive', '%YAML 1.1\n---\na: 1\n', [{ text: 'a: 1\n', line: 3 }]],
  ['an indented marker is text', 'a: |\n  ---\n  x\n', [{ text: 'a: |\n  ---\n  x\n', line: 1 }]],
  ['a longer dash line is text', 'a:\n----\n', [{ text: 'a:\n----\n', line: 1 }]],
  [
    'Windows line ends',
    'a: 1\r\n---\r\nb: 2\r\n',
    [
      { text: 'a: 1\r\n', line: 1 },
      { text: 'b: 2\r\n', line: 3 },
    ],
  ],
  ['a marker at the very end', 'a: 1\n---', [{ text: 'a: 1\n', line: 1 }]],
])('%s', async (_, text, expected) => {
  expect(await split(text)).toEqual(expected);
});

test('how the text arrives makes no difference', async () => {
  const line = fc.constantFrom('a: 1', '---', '--- # x', '----', '# note', '', '  ---', '...');
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 7 }), async (lines, size) => {
      const text = lines.join('\n');
      expect(await split(text, size)).toEqual(await split(text));
    }),
  );
});
