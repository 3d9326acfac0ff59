import { hasVariable } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { equal } from '../../json/equal.ts';
import { read, readList, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { clusterScopedKinds } from '../cluster-scoped-kinds.ts';
import { parseKind } from '../kind-selector.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { type BlockDocument, filterBlocks, isEmptyBlock, isEmptyObject, userFields } from './match-blocks.ts';

/** Checks of `match` and `exclude` that Kyverno makes at install. */
export function checkMatch(rule: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  const match = readObject(rule, 'match');
  const exclude = readObject(rule, 'exclude');
  if (match !== undefined) {
    checkForms(match, ['match'], reporter);
    checkBlocks(match, ['match'], facts, reporter);
    for (const block of filterBlocks(match, ['match']).blocks) checkMatchBlock(block, reporter);
  }
  if (exclude !== undefined) {
    checkForms(exclude, ['exclude'], reporter);
    checkBlocks(exclude, ['exclude'], facts, reporter);
  }
  if (match !== undefined && exclude !== undefined) checkConflict(match, exclude, reporter);
}

function checkForms(filter: JsonObject, path: Path, reporter: Reporter): void {
  const any = readList(filter, 'any').length > 0;
  const all = readList(filter, 'all').length > 0;
  if (any && all) {
    reporter.error(path, 'KYM_FIELD_CONFLICT', 'any and all cannot be used together', 'Keep one of them.');
  }
  if (!any && !all) return;
  if (!isEmptyObject(readObject(filter, 'resources') ?? {})) {
    const message = 'resources cannot be used together with any or all';
    reporter.error(
      [...path, 'resources'],
      'KYM_FIELD_CONFLICT',
      message,
      'Move it into a block of any or all.',
    );
  }
  for (const field of userFields) {
    if (readList(filter, field).length === 0) continue;
    const message = `${field} has no effect next to any or all`;
    reporter.warn([...path, field], 'KYM_FIELD_CONFLICT', message, 'Move it into the blocks.');
  }
}

function checkBlocks(filter: JsonObject, path: Path, facts: PolicyFacts, reporter: Reporter): void {
  reportVariables(filter, path, path[0] === 'match' ? 'match' : 'exclude', reporter);
  for (const block of filterBlocks(filter, path).blocks) {
    checkNames(block, reporter);
    checkSelector(block, reporter);
    checkUsers(block, reporter);
    checkWildcardKind(block, facts, reporter);
    if (facts.namespaced) checkNamespaced(block, reporter);
  }
}

function checkMatchBlock(block: BlockDocument, reporter: Reporter): void {
  if (isEmptyBlock(block) || isEmptyObject(block.resources)) {
    reporter.error(
      block.path,
      'KYM_MATCH_EMPTY',
      'this block does not restrict anything',
      'Add at least kinds.',
    );
  } else if (readList(block.resources, 'kinds').length === 0) {
    const at = [...block.path, 'resources'];
    reporter.error(at, 'KYM_MATCH_KIND', 'a match block must name at least one kind', 'Add kinds: [...].');
  }
}

function checkNames({ path, resources }: BlockDocument, reporter: Reporter): void {
  if ((readText(resources, 'name') ?? '') !== '' && readList(resources, 'names').length > 0) {
    const at = [...path, 'resources', 'name'];
    reporter.error(at, 'KYM_FIELD_CONFLICT', 'name and names cannot be used together', 'Keep names.');
  }
}

function checkSelector({ path, resources }: BlockDocument, reporter: Reporter): void {
  const selector = read(resources, 'selector');
  if (!isObject(selector)) return;
  const isEmpty =
    Object.keys(readObject(selector, 'matchLabels') ?? {}).length === 0 &&
    readList(selector, 'matchExpressions').length === 0;
  if (!isEmpty) return;
  reporter.error([...path, 'resources', 'selector'], 'KYM_MATCH_EMPTY', 'the selector has no requirements');
}

function checkUsers({ path, block }: BlockDocument, reporter: Reporter): void {
  readObjects(block, 'subjects').forEach((subject, index) => {
    if (readText(subject, 'kind') !== 'ServiceAccount' || (readText(subject, 'namespace') ?? '') !== '')
      return;
    reporter.error([...path, 'subjects', index], 'KYM_FIELD_MISSING', 'a ServiceAccount needs its namespace');
  });
  readTexts(block, 'roles').forEach((role, index) => {
    if (role.split(':').length === 2) return;
    reporter.error([...path, 'roles', index], 'KYM_FIELD_VALUE', `${role} is not of the form namespace:name`);
  });
}

function checkWildcardKind({ path, resources }: BlockDocument, facts: PolicyFacts, reporter: Reporter): void {
  const kinds = readTexts(resources, 'kinds');
  const at = [...path, 'resources', 'kinds'];
  if (!kinds.includes('*')) return;
  if (kinds.length > 1) {
    reporter.error(
      at,
      'KYM_MATCH_KIND',
      'the kind * cannot be combined with other kinds',
      'Keep only one of them.',
    );
  }
  if (facts.background) {
    const hint = 'Set spec.background to false; otherwise Kyverno rejects the policy.';
    reporter.warn(at, 'KYM_MATCH_KIND', 'the kind * is not supported in background processing', hint);
  }
}

function checkNamespaced({ path, resources }: BlockDocument, reporter: Reporter): void {
  const at = [...path, 'resources'];
  if (readList(resources, 'namespaces').length > 0) {
    const message = 'a namespaced Policy applies only in its own namespace';
    reporter.error(
      [...at, 'namespaces'],
      'KYM_NAMESPACE_SCOPE',
      message,
      'Remove namespaces, or use a ClusterPolicy.',
    );
  }
  readTexts(resources, 'kinds').forEach((text, index) => {
    const kind = parseKind(text)?.kind ?? '';
    if (hasWildcard(kind) || !clusterScopedKinds.has(kind)) return;
    const message = `${kind} is cluster-scoped, so a namespaced Policy cannot apply to it`;
    reporter.error([...at, 'kinds', index], 'KYM_NAMESPACE_SCOPE', message, 'Use a ClusterPolicy.');
  });
}

function checkConflict(match: JsonObject, exclude: JsonObject, reporter: Reporter): void {
  const matched = filterBlocks(match, ['match']);
  const excluded = filterBlocks(exclude, ['exclude']);
  if (matched.mode === 'all' || excluded.mode === 'all') return;
  for (const block of excluded.blocks) {
    const same = matched.blocks.some((other) => equal(other.block, block.block) && !isEmptyBlock(other));
    if (!same) continue;
    reporter.error(
      block.path,
      'KYM_MATCH_EMPTY',
      'exclude removes everything that match selects',
      'The rule can never apply.',
    );
  }
}

function reportVariables(value: Json, path: Path, section: string, reporter: Reporter): void {
  if (typeof value === 'string') {
    if (!hasVariable(value)) return;
    const hint = 'Use preconditions for conditions that depend on the request.';
    reporter.error(path, 'KYM_VARIABLE_FORBIDDEN', `variables cannot be used in ${section}: ${value}`, hint);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      reportVariables(item, [...path, index], section, reporter);
    });
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      reportVariables(key, [...path, key], section, reporter);
      reportVariables(item, [...path, key], section, reporter);
    }
  }
}
