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

/** What Kyverno does otherwise, or does not know, as far as the text of the rule shows it. */
export function adviseOnDifferences(rule: JsonObject, reporter: Reporter): void {
  const mutate = readObject(rule, 'mutate') ?? {};
  if (readList(mutate, 'replacements').length > 0) {
    const message = 'Kyverno does not know mutate.replacements';
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
        'Kyverno generates rules for pod controllers that lose the inner loop; here there are none';
      const advice =
        'Switch autogen off with the annotation pod-policies.kyverno.io/autogen-controllers: none.';
      reportDifference(reporter, [...path, 'foreach'], 'nestedLoop', message, advice);
    }
    adviseOnLoop(loop, path, reporter);
  });
}

function adviseOnLoop(loop: JsonObject, path: Path, reporter: Reporter): void {
  if (read(loop, 'as') !== undefined) {
    const message = 'Kyverno refuses the field `as`';
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
    const message = 'Kyverno looks for {{@}} in another place inside a foreach, and the rule fails';
    reportDifference(reporter, path, 'self', message, 'Write the whole path.');
  } else eachMember(value, path, (child, at) => reportSelf(child, at, reporter));
}

function adviseOnOldMembership(rule: JsonObject, reporter: Reporter): void {
  for (const { path, conditions } of conditionPlaces(rule).flatMap(conditionGroups)) {
    conditions.forEach((condition, index) => {
      if (!isObject(condition)) return;
      const operator = readText(condition, 'operator') ?? '';
      if (!/^(not)?in$/i.test(operator) || typeof read(condition, 'value') !== 'string') return;
      const message = `Kyverno compares a list with a single value in its own way for ${operator}`;
      reportDifference(
        reporter,
        [...path, index],
        'oldMembership',
        message,
        'Use AnyIn, AllIn and their like.',
      );
    });
  }
}

/** Outside quotes a nested variable is pasted into the expression by Kyverno; here it must be a name or a number. */
function adviseOnNestedVariables(value: Json, path: Path, reporter: Reporter): void {
  if (typeof value === 'string') {
    const isPasted = findVariables(value).some(({ expression }) => holdsBareVariable(expression));
    if (!isPasted) return;
    const message =
      'a variable inside an expression must yield a plain name or number; Kyverno pastes any text';
    reportDifference(reporter, path, 'nested', message, 'Put quotes around it where a text is meant.');
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
