import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mutatingPolicyEnvironment } from '../../src/cel/environments.ts';
import { compileCel } from '../../src/cel/expression.ts';
import { formatProblem } from '../../src/cel/syntax/problem.ts';
import { typeName } from '../../src/cel/types/type.ts';
import type { Value } from '../../src/cel/value/value.ts';
import { Suspend } from '../../src/expression/scope.ts';
import { describeValue, testScope } from './cel.testing.ts';

/** An expression, and what Kyverno's environment for a MutatingPolicy makes of it. */
interface Example {
  readonly id: string;
  readonly expr: string;
  readonly type?: string;
  readonly value?: unknown;
  readonly compileError?: string;
  /** An error that constant folding finds at load. */
  readonly programError?: string;
  readonly evalError?: string;
}

const folder = new URL('./expressions/', import.meta.url);

function read(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
}

const variables = read('variables.json') as Readonly<Record<string, Value>>;
const environment = mutatingPolicyEnvironment();

/** Messages that are deliberately worded better. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['construct-014', "ERROR: <input>:1:15: undefined field 'nope'\n | JSONPatch{nope: 1}\n | ..............^"],
  ['kyverno-029', 'error converting YAML to JSON: yaml: '],
]);

async function evaluate(example: Example): Promise<void> {
  const { expression, problems } = compileCel(example.expr, environment);
  if (example.compileError !== undefined) {
    const text = problems.map((problem) => formatProblem(problem, example.expr)).join('\n');
    expect(text).toBe(otherWords.get(example.id) ?? example.compileError);
    return;
  }
  if (example.programError !== undefined) {
    expect(problems.map(({ message }) => message)).toEqual([example.programError]);
    return;
  }
  expect(problems.map((problem) => formatProblem(problem, example.expr))).toEqual([]);
  if (expression === undefined) return;
  expect(typeName(expression.type)).toBe(example.type);
  const scope = testScope((name) => variables[name]);
  const run = async (): Promise<Value> => {
    try {
      return expression.evaluate(scope);
    } catch (error) {
      if (!(error instanceof Suspend)) throw error;
      await error.ready;
      return expression.evaluate(scope);
    }
  };
  if (example.evalError !== undefined) {
    await expect(run()).rejects.toThrow(otherWords.get(example.id) ?? example.evalError);
    return;
  }
  expect(describeValue(await run())).toEqual(example.value);
}

for (const file of readdirSync(folder)) {
  if (file === 'variables.json') continue;
  describe(file, () => {
    for (const example of read(file) as readonly Example[]) {
      test(`${example.id}: ${example.expr}`, () => evaluate(example));
    }
  });
}
