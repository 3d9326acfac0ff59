import { describe, expect, test } from 'vitest';
import { compileCel, compileUnchecked } from '../../src/cel/expression.ts';
import { formatType } from '../../src/cel/types/type.ts';
import { describeValue, testScope } from './cel.testing.ts';
import {
  needsProtobuf,
  type SpecTest,
  specEnvironment,
  specTests,
  typeOfSpec,
  valueOfSpec,
} from './cel-spec.testing.ts';

/** Tests that do not apply, with the reason. */
const exceptions: readonly (readonly [RegExp, string])[] = [
  [/^block_ext\//, 'cel.block is the internal form of an optimizer; no policy can use it'],
  [
    /^optionals\/optionals\/(map_null_entry_no_such_key|map_present_key_invalid_field)$/,
    'as in Kubernetes, an optional selection from a value without fields is none, not an error',
  ],
  [
    /^string_ext\/value_errors\/(indexof|lastindexof)_out_of_range$/,
    'as in cel-go, a search that starts behind the end finds nothing',
  ],
  [
    /^fields\/qualified_identifier_resolution\/map_(key_float|value_repeat_key(_heterogeneous)?)$/,
    'as in cel-go, the last of equal keys counts, and a double may be a key',
  ],
];

function exception(path: string): string | undefined {
  return exceptions.find(([pattern]) => pattern.test(path))?.[1];
}

function run(spec: SpecTest): void {
  const environment = specEnvironment(spec);
  const compile = spec.disableCheck === true ? compileUnchecked : compileCel;
  const { expression, problems } = compile(spec.expr, environment);
  if (spec.evalError !== undefined && expression === undefined) return;
  expect(problems.map(({ message }) => message)).toEqual([]);
  if (expression === undefined) return;
  const deduced = spec.typedResult?.deducedType;
  if (deduced !== undefined) expect(formatType(expression.type)).toBe(formatType(typeOfSpec(deduced)));
  if (spec.checkOnly === true) return;
  const bindings = new Map(
    Object.entries(spec.bindings ?? {}).map(([name, { value }]) => [name, valueOfSpec(value)]),
  );
  const evaluate = () => expression.evaluate(testScope((name) => bindings.get(name)));
  if (spec.evalError !== undefined) {
    expect(evaluate).toThrow();
    return;
  }
  const expected = spec.value ?? spec.typedResult?.result ?? { boolValue: true };
  expect(describeValue(evaluate())).toEqual(describeValue(valueOfSpec(expected)));
}

describe('cel-spec', () => {
  for (const [path, spec] of specTests()) {
    if (needsProtobuf(path, spec)) continue;
    const reason = exception(path);
    test(`${path}: ${spec.expr}`, ({ skip }) => {
      if (reason !== undefined) skip(reason);
      run(spec);
    });
  }
});
