import * as fastJsonPatch from 'fast-json-patch';
import { load } from 'js-yaml';
import { mutatingPolicyEnvironment } from '../../src/cel/environments.ts';
import { compileCel, compileUnchecked } from '../../src/cel/expression.ts';
import { CelError } from '../../src/cel/value/error.ts';
import { toJson } from '../../src/cel/value/json.ts';
import { scopeOf, stillEnvironment } from '../../src/expression/expression.testing.ts';
import { compileExpression } from '../../src/expression/expression.ts';
import { functionTable } from '../../src/expression/functions/table.ts';
import { ExpressionSyntaxError } from '../../src/expression/jmespath/syntax-error.ts';
import { EvaluationError, Suspend } from '../../src/expression/scope.ts';
import { Budget, BudgetError, withBudget } from '../../src/json/budget.ts';
import { diff } from '../../src/json/diff/diff.ts';
import { equal } from '../../src/json/equal.ts';
import { parseJson, stringifyJson } from '../../src/json/json-text.ts';
import { applyPatch, PatchApplyError } from '../../src/json/patch/apply-patch.ts';
import type { UserPatchOperation } from '../../src/json/patch/operation.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import { readSimpleYaml } from '../../src/yaml/simple-yaml.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import type { Fuzzer } from './fuzzer.testing.ts';
import { mutateJson, oddString, oddValue, type Random } from './random.testing.ts';

const data: JsonObject = {
  a: { b: [1, 'x', null, { c: true }], __proto__: 'p' },
  list: [3, 1, 2],
  name: 'web',
  labels: { app: 'web', 'kubernetes.io/name': 'x' },
  time: '2024-01-02T03:04:05Z',
};

const functionNames = [...functionTable.keys()];
const comparisons = ['==', '!=', '<', '<=', '>', '>='];

function expressionText(random: Random, depth = 4): string {
  const inner = () => expressionText(random, depth - 1);
  const leaf = () =>
    random.pick([
      '@',
      'a',
      'a.b',
      'list',
      'name',
      'labels',
      'time',
      '*',
      '`1`',
      '`[1,"x"]`',
      `'${oddString(random).replaceAll(/['\\]/g, '')}'`,
    ]);
  if (depth === 0) return leaf();
  switch (random.below(14)) {
    case 0:
      return `${inner()}.${random.pick(['b', 'c', '"kubernetes.io/name"', '*'])}`;
    case 1:
      return `${inner()}[${random.pick(['0', '-1', '*', '', '1:', '::-1', `?${inner()}`])}]`;
    case 2:
      return `${inner()} ${random.pick(comparisons)} ${inner()}`;
    case 3:
      return `${inner()} ${random.pick(['||', '&&', '|'])} ${inner()}`;
    case 4:
      return `!${inner()}`;
    case 5:
      return `(${inner()})`;
    case 6:
      return `[${[inner(), ...random.list(2, inner)].join(', ')}]`;
    case 7:
      return `{x: ${inner()}, "y": ${inner()}}`;
    case 8:
    case 9:
    case 10:
      return `${random.pick(functionNames)}(${random.list(3, () => (random.oneIn(4) ? `&${inner()}` : inner())).join(', ')})`;
    case 11:
      return damage(inner(), random);
    default:
      return leaf();
  }
}

/** Removes, doubles or inserts a character. */
function damage(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const added = random.pick(['', text[at] ?? '', ...'{}[]()\'"`\\.,|&@*?:-\n é']);
  return text.slice(0, at) + added + text.slice(at + random.below(2));
}

/** Some functions are loaded on first use: they suspend the evaluation. */
const expectedErrors = [ExpressionSyntaxError, EvaluationError, Suspend];

export const expressions: Fuzzer<string> = {
  name: 'expressions',
  generate: expressionText,
  check(text) {
    onlyThrows(expectedErrors, () => compileExpression(text).search(data, stillEnvironment));
    onlyThrows(expectedErrors, () => compileExpression(text).evaluate(scopeOf(data)));
  },
};

const celEnvironment = mutatingPolicyEnvironment();
const celFunctions = [...celEnvironment.functions.keys()];
const celOperators = ['+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in'];
const celMacros = ['all', 'exists', 'exists_one', 'map', 'filter', 'sortBy', 'transformList', 'transformMap'];

function celText(random: Random, depth = 4): string {
  const inner = () => celText(random, depth - 1);
  const leaf = () =>
    random.pick([
      'object',
      'object.a.b',
      'object.list',
      'object.name',
      'object.labels',
      'object.time',
      'x',
      '1',
      '-1',
      '2u',
      '0.5',
      '1e308',
      '9223372036854775807',
      'true',
      'null',
      'b"a"',
      'duration("1h")',
      'timestamp("2024-01-02T03:04:05Z")',
      'quantity("1Gi")',
      JSON.stringify(oddString(random)),
    ]);
  if (depth === 0) return leaf();
  switch (random.below(14)) {
    case 0:
      return `${inner()}.${random.pick(['b', 'c', '?name', 'list'])}`;
    case 1:
      return `${inner()}[${random.pick(['0', '-1', '"a"', '?0', inner()])}]`;
    case 2:
    case 3:
      return `${inner()} ${random.pick(celOperators)} ${inner()}`;
    case 4:
      return `${random.pick(['!', '-'])}${inner()}`;
    case 5:
      return `(${inner()}) ? ${inner()} : ${inner()}`;
    case 6:
      return `[${random.list(3, inner).join(', ')}]`;
    case 7:
      return `{${random.list(2, () => `${inner()}: ${inner()}`).join(', ')}}`;
    case 8:
      return `${inner()}.${random.pick(celMacros)}(x, ${inner()})`;
    case 9:
      return `${inner()}.${random.pick(celFunctions)}(${random.list(2, inner).join(', ')})`;
    case 10:
      return `${random.pick(celFunctions)}(${random.list(3, inner).join(', ')})`;
    case 11:
      return damage(inner(), random);
    case 12:
      return `cel.bind(x, ${inner()}, ${inner()})`;
    default:
      return leaf();
  }
}

const celLimits = { steps: 100_000, bytes: 1 << 24 };
const celErrors = [CelError, BudgetError, Suspend];

/** Checked and unchecked: data of another type than declared takes the same ways as an expression without types. */
export const celExpressions: Fuzzer<string> = {
  name: 'cel',
  generate: celText,
  check(source) {
    const scope = {
      lookup: (name: string) => (name === 'object' ? data : undefined),
      effects: { now: () => new Date(0), random: () => 0.5 },
    };
    for (const compile of [compileCel, compileUnchecked]) {
      const { expression } = compile(source, celEnvironment);
      if (expression === undefined) continue;
      onlyThrows(celErrors, () =>
        withBudget(new Budget(celLimits), () => stringifyJson(toJson(expression.evaluate(scope)))),
      );
      onlyThrows(celErrors, () => withBudget(new Budget(celLimits), () => expression.trace(scope)));
    }
  },
};

interface PatchInput {
  readonly document: Json;
  readonly patch: readonly Json[];
}

const pointers = [
  '',
  '/a',
  '/a/b',
  '/a/b/0',
  '/a/b/-',
  '/a/b/99',
  '/list/1',
  '/labels/kubernetes.io~1name',
  '/__proto__/x',
  '/a/~2',
  'x',
  '/name/0',
];

export const jsonPatches: Fuzzer<PatchInput> = {
  name: 'json-patches',
  generate: (random) => ({
    document: mutateJson(data, random),
    patch: random.list(4, () => {
      const operation = {
        op: random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'other']),
        path: random.pick(pointers),
        from: random.pick(pointers),
        value: oddValue(random),
      };
      return random.oneIn(6) ? mutateJson(operation, random) : operation;
    }),
  }),
  check({ document, patch }) {
    const before = stringifyJson(document);
    const operations = patch as readonly UserPatchOperation[];
    const result = onlyThrows([PatchApplyError], () => applyPatch(document, operations));
    onlyThrows([PatchApplyError], () => applyPatch(document, operations, { lenient: true }));
    assert(stringifyJson(document) === before, 'the document was modified');
    if (result === undefined) return;
    const delta = diff(document, result.value);
    assert(
      equal(applyPatch(document, delta as readonly UserPatchOperation[]), result.value),
      'the diff does not lead to the result',
    );
    if (!isPlainJson([document, patch as Json, delta as Json])) return;
    const reference = fastJsonPatch.applyPatch(
      structuredClone(document),
      structuredClone(delta) as fastJsonPatch.Operation[],
    );
    assert(
      equal(reference.newDocument as Json, result.value),
      'fast-json-patch applies the diff differently',
    );
  },
};

export const yamlTexts: Fuzzer<string> = {
  name: 'yaml',
  generate(random) {
    const text = writeYaml(mutateJson(data, random));
    return random.oneIn(2) ? damage(damage(text, random), random) : text;
  },
  check(text) {
    const simple = readSimpleYaml(text);
    const parsed = parsedValue(() => parseYamlText(text));
    const independent = parsedValue(() => load(text) as Json);
    if (simple !== undefined && parsed !== undefined)
      assert(equal(simple, parsed.value), 'the two readers disagree');
    if (parsed === undefined) return;
    const printed = writeYaml(parsed.value);
    assert(equal(parseYamlText(printed), asPrinted(parsed.value)), 'the printed YAML means something else');
    const again = parsedValue(() => load(printed) as Json);
    if (independent !== undefined && equal(independent.value, parsed.value))
      assert(
        again !== undefined && equal(again.value, parsed.value),
        'js-yaml reads the printed YAML differently',
      );
  },
};

/** A double beyond 2^53 may be printed as an integer, which is read as a bigint: the same double, but not the same value. */
function asPrinted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => asPrinted(item as Json));
  if (typeof value === 'number') {
    const isLarge = !Number.isSafeInteger(value) && /^-?\d+$/.test(String(value));
    return isLarge ? BigInt(String(value)) : value;
  }
  return isObject(value) ? parseJson(stringifyJson(value)) : value;
}

/** The reference knows neither `__proto__` as a key nor large integers. */
function isPlainJson(value: Json): boolean {
  const text = stringifyJson(value);
  return !text.includes('__proto__') && !/\d{16}/.test(text);
}

type ErrorClass = abstract new (...args: never[]) => Error;

/** The result; undefined after one of the errors. Other errors are findings. */
function onlyThrows<T>(errors: readonly ErrorClass[], run: () => T): { readonly value: T } | undefined {
  try {
    return { value: run() };
  } catch (error) {
    if (errors.some((each) => error instanceof each)) return undefined;
    throw error;
  }
}

function parsedValue<T>(run: () => T): { readonly value: T } | undefined {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error;
    return undefined;
  }
}

function assert(isTrue: boolean, message: string): asserts isTrue {
  if (!isTrue) throw new Error(message);
}
