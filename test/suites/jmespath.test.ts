import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compileExpression } from '../../src/expression/expression.ts';
import { ExpressionSyntaxError } from '../../src/expression/jmespath/syntax-error.ts';
import { EvaluationError, type Scope } from '../../src/expression/scope.ts';
import { isObject, type Json, member } from '../../src/json/value.ts';
import { corpusFolder, describeUnless, noCorpus } from '../needs.testing.ts';

// The jmespath.test compliance suite is not part of the project; docs/jmespath-differences.md lists where we differ.
const root = join(import.meta.dirname, '../..');
const folder = join(corpusFolder, 'jmespath');

interface SuiteCase {
  readonly id: string;
  readonly data: Json;
  readonly expression: string;
  readonly expected: Outcome;
}

/** A result as JSON, or the word `error`. */
type Outcome = string;

const environment = { now: () => new Date(0), random: () => 0 };

function readCases(): SuiteCase[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().flatMap((file) => {
    const groups = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      given: Json;
      cases: { expression: string; result?: Json; error?: string; bench?: string }[];
    }[];
    return groups.flatMap((group, groupIndex) =>
      group.cases
        .map((each, index) => ({ each, id: `${file.replace('.json', '')} ${groupIndex}.${index}` }))
        .filter(({ each }) => each.bench === undefined)
        .map(({ each, id }) => ({
          id,
          data: group.given,
          expression: each.expression,
          expected: each.error === undefined ? canonical(each.result ?? null) : 'error',
        })),
    );
  });
}

function canonical(value: Json): string {
  return JSON.stringify(value, (_key, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

function outcomeOf(run: () => Json): Outcome {
  try {
    return canonical(run());
  } catch (error) {
    if (error instanceof EvaluationError || error instanceof ExpressionSyntaxError) return 'error';
    throw error;
  }
}

function scopeOf(data: Json): Scope | undefined {
  if (!isObject(data)) return undefined;
  return { environment, lookup: (name) => member(data, name), snapshot: () => data };
}

/** The rows of the table in docs: `| case | expression | ours | theirs | reason |`. */
function documentedDifferences(): Map<string, { expression: string; ours: string; theirs: string }> {
  const lines = readFileSync(join(root, 'docs/jmespath-differences.md'), 'utf8').split('\n');
  const rows = lines.filter((line) => /^\| [a-z]+ \d+\.\d+ \|/.test(line));
  return new Map(
    rows.map((row) => {
      const [, id = '', expression = '', ours = '', theirs = ''] = row
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim());
      return [id, { expression: uncode(expression), ours: uncode(ours), theirs: uncode(theirs) }];
    }),
  );
}

function uncode(cell: string): string {
  return cell.replaceAll('\\|', '|').replace(/^(`+) ?(.*?) ?\1$/, '$2');
}

const present = existsSync(folder);

describeUnless(present ? undefined : noCorpus)('jmespath.test', () => {
  const cases = readCases();

  it('differs only in the documented cases and as documented', () => {
    const differing = new Map(
      cases.flatMap(({ id, data, expression, expected }) => {
        const ours = outcomeOf(() => compileExpression(expression).search(data, environment));
        return ours === expected ? [] : [[id, { expression, ours, theirs: expected }]];
      }),
    );
    expect(Object.fromEntries(differing)).toEqual(Object.fromEntries(documentedDifferences()));
    console.log(
      `jmespath.test: ${cases.length - differing.size} of ${cases.length} cases agree, ${differing.size} differ as documented`,
    );
  });

  it('evaluates a scope and a value alike', () => {
    for (const { id, data, expression } of cases) {
      const scope = scopeOf(data);
      if (scope === undefined) continue;
      const fromValue = outcomeOf(() => compileExpression(expression).search(data, environment));
      const fromScope = outcomeOf(() => compileExpression(expression).evaluate(scope));
      expect([id, expression, fromScope]).toEqual([id, expression, fromValue]);
    }
  });
});
