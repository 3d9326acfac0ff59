import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocatedCaseFile } from './own-cases.ts';

/** Cases of Kyverno's tests and policy library that give a different object on purpose, with the reason. */
export const corpusDifferences: ReadonlyMap<string, string> = new Map();

const page = (root: string) => join(root, 'docs', 'differences-from-kyverno.md');
const heading = '## Conformance cases that differ';

/** The last section of docs/differences-from-kyverno.md, which `npm run conformance` writes. */
export function differencesSection(files: readonly LocatedCaseFile[]): string {
  const own = files.flatMap(({ cases }) =>
    cases.flatMap(({ id, title, differs }) => (differs === undefined ? [] : [[id, title, differs] as const])),
  );
  const corpus = [...corpusDifferences].map(([id, reason]) => [id, 'a case of Kyverno', reason] as const);
  const rows = [...own, ...corpus].map((cells) => {
    const [id, title, reason] = cells.map(cell);
    return `| \`${id}\` | ${title} | ${reason} |`;
  });
  return `${heading}

\`npm run conformance\` writes this table. It lists the cases in \`test/conformance/cases\` whose expected result is not that of Kyverno. In the cases of Kyverno's own tests and policy library,
${corpusDifferences.size === 0 ? 'no result differs: lists with a merge key are compared by key, so [positions](#existing-items-keep-their-place) do not matter.' : `${corpusDifferences.size} results differ.`}

| case | Kymera | Kyverno |
|---|---|---|
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

export function writtenSection(root: string): string {
  const text = readFileSync(page(root), 'utf8');
  return text.slice(text.indexOf(heading));
}

export function writeSection(root: string, section: string): void {
  const text = readFileSync(page(root), 'utf8');
  writeFileSync(page(root), text.slice(0, text.indexOf(heading)) + section);
}
