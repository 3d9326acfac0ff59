import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { faults } from '../../e2e/faults/rows.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reliability.md'), 'utf8');

it.each(faults)('the page has the promise and the assertion of: $name', ({ name, promise, assertion }) => {
  expect(page).toContain(`| ${name} | ${promise} | ${assertion} |`);
});
