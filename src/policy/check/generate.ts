import { usesVariables } from '../../expression/template/template.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { stringifyJson } from '../../json/json-text.ts';
import {
  read,
  readBoolean,
  readList,
  readObject,
  readObjects,
  readText,
  readTexts,
} from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import type { Reporter } from '../../problem.ts';
import { clusterScopedKinds } from '../cluster-scoped-kinds.ts';
import { parseKind } from '../kind-selector.ts';
import { isForeign, mayBeForeign, type PolicyFacts } from '../policy-facts.ts';

/** Whether a rule identifies the objects it generates. An incomplete rule is ignored. */
export function isComplete(rule: JsonObject): boolean {
  const generate = readObject(rule, 'generate') ?? {};
  const loops = readObjects(generate, 'foreach');
  return (loops.length === 0 ? [generate] : loops).every((pattern) => missingFields(pattern).length === 0);
}

function missingFields(pattern: JsonObject): readonly string[] {
  if (readList(readObject(pattern, 'cloneList') ?? {}, 'kinds').length > 0) return [];
  return ['apiVersion', 'kind', 'name'].filter((field) => (readText(pattern, field) ?? '') === '');
}

/** Checks of `generate` that Kyverno makes at install. */
export function checkGenerate(rule: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  const generate = readObject(rule, 'generate') ?? {};
  if (readList(rule, 'celPreconditions').length > 0) {
    const message = 'celPreconditions cannot be used with generate';
    reporter.error(['celPreconditions'], 'KYM_FIELD_CONFLICT', message, 'Use preconditions.');
  }
  const forms = formsOf(generate);
  if (forms.length > 1) {
    const message = `only one of ${forms.join(', ')} is allowed in a generate block`;
    reporter.error(['generate'], 'KYM_GENERATE_FORM', message, 'Write a separate rule for each.');
    return;
  }
  const synchronized = readBoolean(generate, 'synchronize') === true;
  const loops = readObjects(generate, 'foreach');
  if (loops.length === 0) checkPattern(generate, ['generate'], synchronized, facts, reporter);
  loops.forEach((loop, index) => {
    checkPattern(loop, ['generate', 'foreach', index], synchronized, facts, reporter);
  });
}

function formsOf(generate: JsonObject): readonly string[] {
  const clone = readObject(generate, 'clone') ?? {};
  return [
    ...(read(generate, 'data') === undefined ? [] : ['data']),
    ...(Object.values(clone).some((value) => value !== null && value !== '') ? ['clone'] : []),
    ...(readList(readObject(generate, 'cloneList') ?? {}, 'kinds').length === 0 ? [] : ['cloneList']),
    ...(readList(generate, 'foreach').length === 0 ? [] : ['foreach']),
  ];
}

function checkPattern(
  pattern: JsonObject,
  path: Path,
  synchronized: boolean,
  facts: PolicyFacts,
  reporter: Reporter,
): void {
  checkAnchors(read(pattern, 'data') ?? null, [...path, 'data'], reporter);
  checkForeign(pattern, path, facts, reporter);
  if (synchronized) checkFixedSource(pattern, path, reporter);
  if (readList(readObject(pattern, 'cloneList') ?? {}, 'kinds').length > 0) {
    checkCloneList(readObject(pattern, 'cloneList') ?? {}, [...path, 'cloneList'], facts, reporter);
    return;
  }
  const missing = missingFields(pattern);
  if (missing.length > 0) {
    const message = `the rule does not run: it does not set ${missing.join(', ')} of the generated object`;
    reporter.warn(path, 'KYM_FIELD_MISSING', message, 'Kyverno rejects the policy.');
    return;
  }
  if (formsOf(pattern).length === 0) {
    const hint = 'Add one of data, clone and cloneList.';
    reporter.warn(
      path,
      'KYM_GENERATE_FORM',
      'the rule has no content to generate, so it generates nothing',
      hint,
    );
  }
  checkScope(pattern, path, facts, reporter);
}

/** The scope of a kind is known offline only for built-in kinds. */
function checkScope(pattern: JsonObject, path: Path, facts: PolicyFacts, reporter: Reporter): void {
  const kind = readText(pattern, 'kind') ?? '';
  const apiVersion = readText(pattern, 'apiVersion') ?? '';
  const namespace = readText(pattern, 'namespace') ?? '';
  if (!Object.hasOwn(mergeKinds, `${apiVersion}/${kind}`)) return;
  const at = [...path, 'namespace'];
  if (!clusterScopedKinds.has(kind)) {
    if (namespace !== '' || facts.namespaced) return;
    reporter.error(
      path,
      'KYM_FIELD_MISSING',
      `${kind} is a namespaced kind: the rule must set the namespace`,
    );
  } else if (facts.namespaced) {
    const message = `a namespaced Policy cannot generate a ${kind}, which is cluster-scoped`;
    reporter.error([...path, 'kind'], 'KYM_NAMESPACE_SCOPE', message, 'Use a ClusterPolicy.');
  } else if (namespace !== '') {
    reporter.error(at, 'KYM_NAMESPACE_SCOPE', `${kind} has no namespace`, 'Remove namespace.');
  }
}

function checkForeign(pattern: JsonObject, path: Path, facts: PolicyFacts, reporter: Reporter): void {
  const places = [
    { holder: pattern, at: path, does: 'generate objects' },
    { holder: readObject(pattern, 'clone') ?? {}, at: [...path, 'clone'], does: 'copy objects' },
    { holder: readObject(pattern, 'cloneList') ?? {}, at: [...path, 'cloneList'], does: 'copy objects' },
  ];
  for (const { holder, at, does } of places) {
    const namespace = readText(holder, 'namespace') ?? '';
    if (mayBeForeign(namespace, facts)) {
      const message = `a Policy can ${does} only in its own namespace: the API server refuses this one unless it is applied in ${namespace}`;
      const hint = `Set metadata.namespace to ${namespace}, or use a ClusterPolicy.`;
      reporter.warn([...at, 'namespace'], 'KYM_NAMESPACE_SCOPE', message, hint);
    }
    if (!isForeign(namespace, facts)) continue;
    const message = `a Policy in ${facts.namespace} cannot ${does} in ${namespace}`;
    reporter.error([...at, 'namespace'], 'KYM_NAMESPACE_SCOPE', message, 'Use a ClusterPolicy.');
  }
}

/** Generated objects are looked up by kind and source, so neither may depend on the request. */
function checkFixedSource(pattern: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['kind', 'apiVersion', 'clone', 'cloneList']) {
    if (!usesVariables(read(pattern, field) ?? null)) continue;
    const message = `with variables in ${field}, generated objects may not be synchronized`;
    reporter.warn(
      [...path, field],
      'KYM_GENERATE_SYNCHRONIZE',
      message,
      'Use literal values, in a separate rule for each.',
    );
  }
}

function checkCloneList(list: JsonObject, path: Path, facts: PolicyFacts, reporter: Reporter): void {
  const kinds = readTexts(list, 'kinds').filter((kind) => !hasVariable(kind) && !hasWildcard(kind));
  const clusterWide = kinds.filter((kind) => clusterScopedKinds.has(parseKind(kind)?.kind ?? ''));
  const namespace = readText(list, 'namespace') ?? '';
  if (clusterWide.length > 0 && (clusterWide.length < kinds.length || facts.namespaced)) {
    const message = facts.namespaced
      ? `a namespaced Policy cannot copy ${clusterWide.join(', ')}`
      : 'namespaced and cluster-scoped kinds cannot be in the same list';
    reporter.error([...path, 'kinds'], 'KYM_NAMESPACE_SCOPE', message, 'Write a separate rule for each.');
  } else if (clusterWide.length > 0 && namespace !== '') {
    const message = `${clusterWide.join(', ')} have no namespace`;
    reporter.error([...path, 'namespace'], 'KYM_NAMESPACE_SCOPE', message, 'Remove namespace.');
  }
  const known = kinds.filter((kind) => Object.hasOwn(mergeKinds, kind));
  if (clusterWide.length === 0 && known.length > 0 && namespace === '' && !facts.namespaced) {
    reporter.error(path, 'KYM_FIELD_MISSING', 'cloneList needs the namespace of the objects to copy');
  }
  const selector = read(list, 'selector');
  if (selector !== undefined && hasWildcard(stringifyJson(selector)) && !usesVariables(selector)) {
    const message = 'the selector of cloneList does not support wildcards';
    reporter.error([...path, 'selector'], 'KYM_LABEL_SELECTOR', message);
  }
}

function checkAnchors(value: Json, path: Path, reporter: Reporter): void {
  if (isArray(value)) value.forEach((item, index) => void checkAnchors(item, [...path, index], reporter));
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (parseAnchor(key) !== undefined) {
      const message = `${key} is an anchor, which generated objects do not support`;
      reporter.error([...path, key], 'KYM_GENERATE_FORM', message, 'Use preconditions.');
    }
    checkAnchors(item, [...path, key], reporter);
  }
}
