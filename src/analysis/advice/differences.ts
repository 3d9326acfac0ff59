import { findVariables } from '../../expression/template/tokens.ts';
import { read, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { conditionGroups, conditionPlaces } from '../../policy/check/condition-places.ts';
import { matchKinds } from '../../policy/check/match-blocks.ts';
import { patchDocuments } from '../../policy/check/patch-writes.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import type { Reporter } from '../../problem.ts';
import { reportDifference } from './difference.ts';
import { adviseOnOverlay, schemaOfRule } from './overlay.ts';

/** Reports features of a rule that Kyverno handles differently or does not support. */
export function adviseOnDifferences(rule: JsonObject, reporter: Reporter): void {
  const mutate = readObject(rule, 'mutate') ?? {};
  if (readList(mutate, 'replacements').length > 0) {
    const message = 'Kyverno does not support mutate.replacements';
    reportDifference(reporter, ['mutate', 'replacements'], 'replacements', message);
  }
  adviseOnLoops(rule, mutate, reporter);
  adviseOnOldMembership(rule, reporter);
  adviseOnNestedVariables(rule, [], reporter);
  const schema = schemaOfRule(rule);
  for (const { path, form, content } of patchDocuments(mutate, ['mutate'])) {
    if (form === 'merge' && path.at(-1) === 'patchStrategicMerge') {
      adviseOnOverlay(content, path, { schema, inLoop: path.includes('foreach'), reporter });
    }
  }
}

function adviseOnLoops(rule: JsonObject, mutate: JsonObject, reporter: Reporter): void {
  const kinds = matchKinds(rule).map((kind) => parseKind(kind)?.kind);
  const isForPods = kinds.length > 0 && kinds.every((kind) => kind === 'Pod');
  readObjects(mutate, 'foreach').forEach((loop, index) => {
    const path: Path = ['mutate', 'foreach', index];
    if (isForPods && readList(loop, 'foreach').length > 0) {
      const message =
        'the rules that Kyverno generates for pod controllers lose the inner loop; Kymera generates none';
      const advice = 'Disable autogen with the annotation pod-policies.kyverno.io/autogen-controllers: none.';
      reportDifference(reporter, [...path, 'foreach'], 'nestedLoop', message, advice);
    }
    adviseOnLoop(loop, path, reporter);
  });
}

function adviseOnLoop(loop: JsonObject, path: Path, reporter: Reporter): void {
  if (read(loop, 'as') !== undefined) {
    const message = 'Kyverno rejects the field `as`';
    reportDifference(reporter, [...path, 'as'], 'as', message, 'Use element and elementIndex.');
  }
  reportSelf(read(loop, 'patchStrategicMerge') ?? null, [...path, 'patchStrategicMerge'], reporter);
  readObjects(loop, 'foreach').forEach((inner, index) => {
    adviseOnLoop(inner, [...path, 'foreach', index], reporter);
  });
}

function reportSelf(value: Json, path: Path, reporter: Reporter): void {
  if (typeof value === 'string') {
    if (!findVariables(value).some(({ expression }) => expression === '@')) return;
    const message = 'inside a foreach, Kyverno resolves {{@}} to another path, and the rule fails';
    reportDifference(reporter, path, 'self', message, 'Write the full path.');
  } else eachMember(value, path, (child, at) => reportSelf(child, at, reporter));
}

function adviseOnOldMembership(rule: JsonObject, reporter: Reporter): void {
  for (const { path, conditions } of conditionPlaces(rule).flatMap(conditionGroups)) {
    conditions.forEach((condition, index) => {
      if (!isObject(condition)) return;
      const operator = readText(condition, 'operator') ?? '';
      if (!/^(not)?in$/i.test(operator) || typeof read(condition, 'value') !== 'string') return;
      const message = `for ${operator}, Kyverno compares a list with a single value differently`;
      reportDifference(
        reporter,
        [...path, index],
        'oldMembership',
        message,
        'Use AnyIn, AllIn, AnyNotIn or AllNotIn.',
      );
    });
  }
}

/** Outside quotes, Kyverno inserts a nested variable into the expression source; Kymera accepts only a name or a number. */
function adviseOnNestedVariables(value: Json, path: Path, reporter: Reporter): void {
  if (typeof value === 'string') {
    const isPasted = findVariables(value).some(({ expression }) => holdsBareVariable(expression));
    if (!isPasted) return;
    const message =
      'a variable inside an expression must yield a plain name or number; Kyverno inserts any string';
    reportDifference(reporter, path, 'nested', message, 'Put quotes around it to use it as a string.');
  } else eachMember(value, path, (child, at) => adviseOnNestedVariables(child, at, reporter));
}

function holdsBareVariable(expression: string): boolean {
  let quote = '';
  for (let at = 0; at < expression.length; at++) {
    const character = expression.charAt(at);
    if (character === '\\') at++;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (`'"\``.includes(character)) quote = character;
    else if (expression.startsWith('{{', at)) return true;
  }
  return false;
}

function eachMember(value: Json, path: Path, visit: (child: Json, path: Path) => void): void {
  if (isArray(value)) {
    value.forEach((item, index) => {
      visit(item, [...path, index]);
    });
  } else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) visit(child, [...path, key]);
  }
}
