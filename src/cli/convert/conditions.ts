import { isMap, isSeq, type YAMLMap } from 'yaml';
import { findVariables } from '../../expression/template/tokens.ts';
import { read, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import { isArray, isObject } from '../../json/value.ts';
import { conditionGroups, conditionPlaces } from '../../policy/check/condition-places.ts';
import { mapAt, mapsIn, newMap, newPair, pairOf, setText, textAt } from '../../yaml/nodes.ts';

const renamed: Readonly<Record<string, string>> = {
  Equal: 'Equals',
  NotEqual: 'NotEquals',
  In: 'AnyIn',
  NotIn: 'AllNotIn',
};

/** Moves plain lists of conditions to `all` and renames operators. */
export function convertConditions(rule: YAMLMap): void {
  const mutate = mapAt(rule, 'mutate');
  const holders = mutate === undefined ? [rule] : [rule, ...mapsIn(mutate, 'targets'), ...loopsIn(mutate)];
  for (const holder of holders) {
    const pair = pairOf(holder, 'preconditions');
    if (pair !== undefined && isSeq(pair.value)) pair.value = newMap([newPair('all', pair.value)]);
    const groups = mapAt(holder, 'preconditions');
    if (groups === undefined) continue;
    for (const condition of [...mapsIn(groups, 'any'), ...mapsIn(groups, 'all')]) convertOperator(condition);
  }
}

function loopsIn(holder: YAMLMap): readonly YAMLMap[] {
  return mapsIn(holder, 'foreach').flatMap((loop) => [loop, ...loopsIn(loop)]);
}

function convertOperator(condition: YAMLMap): void {
  const operator = textAt(condition, 'operator') ?? '';
  const current = Object.hasOwn(renamed, operator) ? renamed[operator] : undefined;
  if (current === undefined) return;
  if (isOldMembership(operator) && !isEquivalent(readCondition(condition))) return;
  setText(condition, 'operator', current);
}

function isOldMembership(operator: string): boolean {
  return operator === 'In' || operator === 'NotIn';
}

interface Membership {
  readonly key: string | undefined;
  readonly hasList: boolean;
}

function readCondition(condition: YAMLMap): Membership {
  const value = pairOf(condition, 'value')?.value;
  return { key: textAt(condition, 'key'), hasList: isSeq(value) && !value.items.some((item) => isMap(item)) };
}

/**
 * The old operators compare list keys literally, the new ones with wildcards, and the new ones read a string value as a range. They
 * are equivalent only if the key is certainly a single string and the value is a list.
 */
function isEquivalent({ key, hasList }: Membership): boolean {
  if (key === undefined || !hasList) return false;
  const [variable, ...others] = findVariables(key);
  if (variable === undefined) return true;
  const isWhole = others.length === 0 && variable.start === 0 && variable.end === key.length;
  return !isWhole || isScalarExpression(variable.expression);
}

const scalarPath =
  /^(?:request|element|target)(?:\.[\w]+)*\.(?:operation|name|namespace|kind|username|uid|image|type|generateName|apiVersion)$/;
const labelPath = /^(?:request|element|target)[\w.]*\.metadata\.(?:labels|annotations)\.(?:\w+|"[^"]+")$/;

function isScalarExpression(expression: string): boolean {
  const plain = expression.replace(/\s*\|\|\s*(?:''|'[^']*'|""|`"[^`"]*"`)$/, '');
  return scalarPath.test(plain) || labelPath.test(plain) || /^(?:to_lower|to_upper|to_string)\(/.test(plain);
}

/** Conditions that keep their operator because the new one would compare differently. */
export function unconvertedConditions(rule: JsonObject): readonly { path: Path; operator: string }[] {
  return conditionPlaces(rule)
    .flatMap(conditionGroups)
    .flatMap(({ path, conditions }) =>
      conditions.flatMap((condition, index) => {
        if (!isObject(condition)) return [];
        const operator = readText(condition, 'operator') ?? '';
        const key = readText(condition, 'key');
        const isKept =
          isOldMembership(operator) && !isEquivalent({ key, hasList: isArray(read(condition, 'value')) });
        return isKept ? [{ path: [...path, index, 'operator'], operator }] : [];
      }),
    );
}
