import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Case ids in the first column of the last table of docs/differences-from-kyverno.md, as `code`. */
export function readExpectedDifferences(root: string): ReadonlySet<string> {
  const text = readFileSync(join(root, 'docs', 'differences-from-kyverno.md'), 'utf8');
  const table = text.slice(text.indexOf('## Conformance cases that differ'));
  return new Set([...table.matchAll(/^\| `([^`]+)` \|/gm)].map((row) => row[1] ?? ''));
}
