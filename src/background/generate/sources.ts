import { compileLabelSelector } from '../../expression/label-selector.ts';
import { usesVariables } from '../../expression/template/template.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import { read, readList, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledGenerateRule } from '../../policy/compiled.ts';
import { refOf, stringLabelsOf } from '../object-identity.ts';
import { apiVersionAndKind } from './desired.ts';
import { type GeneratedKind, generatedKinds } from './downstream.ts';

/** The kinds that a synchronized rule copies. Their objects have to be watched. */
export function sourceKinds(rule: CompiledGenerateRule): readonly GeneratedKind[] {
  const copies = patternsOf(rule).some(
    (pattern) => read(pattern, 'clone') !== undefined || read(pattern, 'cloneList') !== undefined,
  );
  return rule.synchronize && copies ? generatedKinds(rule) : [];
}

/** Whether an object may be a source of the rule. Variables in the source match every value. */
export function mayCopy(rule: CompiledGenerateRule, object: JsonObject): boolean {
  return patternsOf(rule).some((pattern) => isSource(pattern, object));
}

function patternsOf(rule: CompiledGenerateRule): readonly JsonObject[] {
  const generate = readObject(rule.document, 'generate') ?? {};
  return [generate, ...readObjects(generate, 'foreach')];
}

function isSource(pattern: JsonObject, object: JsonObject): boolean {
  const { apiVersion, kind, namespace, name } = refOf(object);
  const clone = readObject(pattern, 'clone');
  if (clone !== undefined) {
    return (
      fits(readText(pattern, 'apiVersion'), apiVersion) &&
      fits(readText(pattern, 'kind'), kind) &&
      fits(readText(clone, 'namespace'), namespace) &&
      fits(readText(clone, 'name'), name)
    );
  }
  const list = readObject(pattern, 'cloneList');
  if (list === undefined || readList(list, 'kinds').length === 0) return false;
  const isListed = readTexts(list, 'kinds')
    .map(apiVersionAndKind)
    .some((one) => fits(one.apiVersion, apiVersion) && fits(one.kind, kind));
  return isListed && fits(readText(list, 'namespace'), namespace) && isSelected(list, object);
}

function fits(written: string | undefined, actual: string): boolean {
  const pattern = written ?? '';
  return hasVariable(pattern) || compileWildcard(pattern).matches(actual);
}

const noReport = { error: () => {}, warn: () => {} };

function isSelected(list: JsonObject, object: JsonObject): boolean {
  const selector = read(list, 'selector');
  if (selector === undefined || usesVariables(selector)) return true;
  const compiled = compileLabelSelector(selector, [], noReport, { wildcards: false });
  return compiled?.matches(stringLabelsOf(object)) ?? false;
}
