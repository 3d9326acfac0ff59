import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fieldsToShow } from '../../scripts/docs-policy.ts';
import { loadPolicies } from '../../src/index.ts';
import { root } from './pages.testing.ts';

const folder = join(root, 'docs/policy-examples');
const examples = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

describe('the reference of policies', () => {
  it.each(examples)('%s loads', (file, text) => {
    const { problems } = loadPolicies({ file, text });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  const shown = new Set(examples.flatMap(([, text]) => keysOf(parse(text))));
  it.each([...fieldsToShow()])('shows every field of %s in an example', (_, fields) => {
    expect(fields.filter((field) => !shown.has(field))).toEqual([]);
  });
});

function keysOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}
