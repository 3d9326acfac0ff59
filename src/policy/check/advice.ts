import { findVariables, hasVariable, unclosedBraces } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { parseKind } from '../kind-selector.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { excludeKinds, matchKinds } from './match-blocks.ts';
import { mentionsPath, patchDocuments } from './patch-writes.ts';

/** Patterns that Kyverno accepts with a warning, or rejects although the result does not depend on them. */
export function adviseOn(rule: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  const mutate = readObject(rule, 'mutate') ?? {};
  adviseOnSubresources(rule, mutate, reporter);
  adviseOnPods(rule, mutate, facts, reporter);
  adviseOnBraces(rule, [], reporter);
  for (const patch of patchDocuments(mutate, ['mutate'])) {
    if (patch.form === 'merge') adviseOnNames(patch.content, patch.path, reporter);
  }
}

/** Unclosed braces are literal. */
export function adviseOnBraces(value: Json, path: Path, reporter: Reporter): void {
  if (typeof value === 'string') {
    const open = unclosedBraces(value);
    if (open === undefined) return;
    const message = `${stringifyJson(open)} has no closing }}: it is not a variable`;
    reporter.warn(path, 'KYM_BRACES_UNCLOSED', message, 'Write {{ name }}, or \\{{ for literal braces.');
  } else if (isArray(value)) {
    for (const [index, item] of value.entries()) adviseOnBraces(item, [...path, index], reporter);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) adviseOnBraces(item, [...path, key], reporter);
  }
}

/** An item `name: "*"` without an anchor is added with this name. */
function adviseOnNames(value: Json, path: Path, reporter: Reporter): void {
  const entries = isArray(value) ? value.entries() : isObject(value) ? Object.entries(value) : [];
  for (const [token, item] of entries) {
    const at = [...path, token];
    const name = isArray(value) && isObject(item) ? readText(item, 'name') : undefined;
    if (name !== undefined && !hasVariable(name) && hasWildcard(name)) {
      const message = `name: ${stringifyJson(name)} is a literal name: the patch adds an item with this name`;
      const hint = `Write (name): ${stringifyJson(name)} to change the items that match.`;
      reporter.warn([...at, 'name'], 'KYM_LITERAL_WILDCARD', message, hint);
    }
    adviseOnNames(item, at, reporter);
  }
}

function adviseOnSubresources(rule: JsonObject, mutate: JsonObject, reporter: Reporter): void {
  const targets = readObjects(mutate, 'targets').map((target) => readText(target, 'kind') ?? '');
  const kinds = [...matchKinds(rule), ...excludeKinds(rule), ...targets].map((kind) => kind.toLowerCase());
  const patches = patchDocuments(mutate, ['mutate']);
  const expressions = variablesIn(mutate);
  const advise = (field: string, subresource: string): void => {
    if (kinds.some((kind) => kind.includes(subresource))) return;
    const read = new RegExp(`\\b(object|oldObject|target)\\.${field.replace('.', '\\.')}\\b`);
    const isUsed =
      patches.some((patch) => mentionsPath(patch, field)) || expressions.some((text) => read.test(text));
    if (!isUsed) return;
    const message = `${field} can also change through the subresource ${subresource}, which the rule does not match`;
    reporter.warn(
      ['mutate'],
      'KYM_SUBRESOURCE_MISSING',
      message,
      `Add the kind with /${subresource} if the rule should cover it.`,
    );
  };
  advise('spec.replicas', 'scale');
  advise('status', 'status');
}

/** The expressions of all variables in a document. */
function variablesIn(value: Json): readonly string[] {
  if (typeof value === 'string') return findVariables(value).map(({ expression }) => expression);
  if (isArray(value)) return value.flatMap(variablesIn);
  return isObject(value) ? Object.values(value).flatMap(variablesIn) : [];
}

function adviseOnPods(rule: JsonObject, mutate: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  const flat = readObject(readObject(rule, 'match') ?? {}, 'resources') ?? {};
  if (readTexts(flat, 'kinds').includes('Pod') && (readText(mutate, 'patchesJson6902') ?? '') !== '') {
    const message = 'patchesJson6902 changes Pods, not the controllers that create them';
    reporter.warn(['mutate', 'patchesJson6902'], 'KYM_POD_PATCHED_DIRECTLY', message);
  }
  const kinds = new Set(matchKinds(rule).map((kind) => parseKind(kind)?.kind ?? ''));
  if (kinds.size !== 1 || !kinds.has('Pod') || !isNarrowed(facts.autogenControllers)) return;
  const message =
    'the rule applies to all Pods, including Pods of controllers that the autogen annotation omits';
  reporter.warn(['match'], 'KYM_AUTOGEN_NARROWED', message, 'Exclude them with preconditions.');
}

function isNarrowed(controllers: string | undefined): boolean {
  if (controllers === undefined || controllers === 'none' || controllers === 'all') return false;
  const listed = controllers.toLowerCase().split(',').sort().join(',');
  return listed !== 'cronjob,daemonset,deployment,job,statefulset';
}
