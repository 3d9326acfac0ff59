import { type CompiledLabelSelector, compileLabelSelector } from '../../expression/label-selector.ts';
import { compileWildcard, hasWildcard, type TextMatcher } from '../../expression/wildcard.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { labelsOf, metadataOf, textOf } from '../../json/metadata.ts';
import { read, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { CompiledBlock, KindSelector, Operation } from '../compiled.ts';
import type { CelHost, CelMismatch, CelRequest } from '../compiled-cel.ts';
import { type KindKey, matchesKind } from '../kind-selector.ts';
import { type Clause, selectorClauses } from '../registry/literal-clauses.ts';
import { checkMatchResources } from './api-server-rules.ts';

/** `matchConstraints`, `matchResources` or `targetMatchConstraints`. */
export interface CompiledConstraints {
  /** Kinds and operations of each rule, for the index. */
  readonly blocks: readonly CompiledBlock[];
  /** Literal selectors and names, for the index. */
  readonly clauses: readonly Clause[];
  mismatch(object: JsonObject, host: CelHost): CelMismatch | undefined;
}

interface ResourceRule extends CompiledBlock {
  readonly kinds: readonly KindSelector[];
  readonly operations: ReadonlySet<Operation>;
  readonly scope: string;
  readonly resourceNames: readonly string[];
}

const allOperations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const mostKinds = 10_000;

export interface ConstraintOptions {
  /** The engine compares kinds and operations with `blocks` first, so that they need not be compared again. */
  readonly indexed?: boolean | undefined;
  /** The API server refuses more than Kyverno. Kyverno also compares listed names with the beginning of `generateName`. */
  readonly apiServer?: boolean | undefined;
}

export function compileConstraints(
  constraints: JsonObject,
  path: Path,
  reporter: Reporter,
  { indexed = false, apiServer = false }: ConstraintOptions = {},
): CompiledConstraints | undefined {
  if (apiServer) checkMatchResources(constraints, path, reporter);
  const namespaceSelector = selectorOf(constraints, 'namespaceSelector', path, reporter);
  const objectSelector = selectorOf(constraints, 'objectSelector', path, reporter);
  const rules = rulesOf(constraints, 'resourceRules', path, reporter);
  const excluded = rulesOf(constraints, 'excludeResourceRules', path, reporter);
  if (
    namespaceSelector === null ||
    objectSelector === null ||
    rules === undefined ||
    excluded === undefined
  ) {
    return undefined;
  }
  const matches = (rule: ResourceRule, object: JsonObject, request: CelRequest): boolean =>
    matchesRule(rule, request) && matchesName(rule.resourceNames, apiServer ? {} : object, request);
  const isDecided =
    indexed && rules.every(({ scope, resourceNames }) => scope === '*' && resourceNames.length === 0);
  // Without the rest, so that the index alone decides whether they match.
  const blocks = rules.map(({ path: at, kinds, operations }) => ({ path: at, kinds, operations }));
  const hasSelector = namespaceSelector !== undefined || objectSelector !== undefined;
  if (isDecided && !hasSelector && excluded.length === 0)
    return { blocks, clauses: [], mismatch: () => undefined };
  const names = rules.map(({ resourceNames }) => resourceNames);
  const isNamed = names.length > 0 && names.every((each) => each.length > 0);
  return {
    blocks,
    clauses: [
      ...(isNamed ? [{ attribute: 'requestName', values: names.flat() } as const] : []),
      ...selectorClauses('objectLabels', objectSelector?.document),
      ...selectorClauses('namespaceLabels', namespaceSelector?.document),
    ],
    mismatch(object, host) {
      const { request } = host;
      if (namespaceSelector !== undefined && !selectsNamespace(namespaceSelector, object, host)) {
        return miss(path, 'namespaceSelector', stringifyJson(namespaceSelector.document), request.namespace);
      }
      if (objectSelector !== undefined && !selectsObject(objectSelector, object, request.oldObject)) {
        const labels = Object.keys(labelsOf(object)).join(', ');
        return miss(path, 'objectSelector', stringifyJson(objectSelector.document), labels);
      }
      const excluding = excluded.find((rule) => matches(rule, object, request));
      if (excluding !== undefined) {
        return miss(excluding.path, 'excludeResourceRules', 'another resource', nameOfRequest(request));
      }
      if (isDecided || rules.length === 0 || rules.some((rule) => matches(rule, object, request)))
        return undefined;
      return miss(path, 'resourceRules', rules.map(describeRule).join('; '), nameOfRequest(request));
    },
  };
}

function miss(path: Path, attribute: string, expected: string, actual: string): CelMismatch {
  return { path: [...path, attribute], attribute, expected, actual };
}

/** Null after a problem; undefined when there is no selector, or one that selects everything. */
function selectorOf(
  constraints: JsonObject,
  field: string,
  path: Path,
  reporter: Reporter,
): CompiledLabelSelector | null | undefined {
  const selector = read(constraints, field);
  if (selector === undefined) return undefined;
  return compileLabelSelector(selector, [...path, field], reporter, { wildcards: false }) ?? null;
}

function rulesOf(
  constraints: JsonObject,
  field: string,
  path: Path,
  reporter: Reporter,
): readonly ResourceRule[] | undefined {
  const rules = readObjects(constraints, field).map((rule, index) =>
    compileRule(rule, [...path, field, index], reporter),
  );
  return rules.every((rule) => rule !== undefined) ? rules : undefined;
}

function compileRule(rule: JsonObject, path: Path, reporter: Reporter): ResourceRule | undefined {
  const groups = readTexts(rule, 'apiGroups');
  const versions = readTexts(rule, 'apiVersions');
  const resources = readTexts(rule, 'resources');
  const operations = readTexts(rule, 'operations');
  for (const [field, list] of Object.entries({
    apiGroups: groups,
    apiVersions: versions,
    resources,
    operations,
  })) {
    if (list.length > 0) continue;
    reporter.error(
      path,
      'KYM_FIELD_MISSING',
      `the field ${field} is missing or empty`,
      `List ${field}, or "*".`,
    );
    return undefined;
  }
  if (groups.length * versions.length * resources.length > mostKinds) {
    reporter.error(
      path,
      'KYM_FIELD_VALUE',
      `the rule combines to more than ${mostKinds} resources`,
      'Use "*".',
    );
    return undefined;
  }
  warnOfPatterns(rule, path, reporter);
  return {
    path,
    kinds: groups.flatMap((group) =>
      versions.flatMap((version) => resources.map((resource) => resourceSelector(group, version, resource))),
    ),
    operations: new Set(operations.includes('*') ? allOperations : (operations as readonly Operation[])),
    scope: readText(rule, 'scope') ?? '*',
    resourceNames: readTexts(rule, 'resourceNames'),
  };
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` with `/*`, `*` with `/scale`. */
function resourceSelector(group: string, version: string, text: string): KindSelector {
  const { resource, subresource } = splitResource(text);
  return {
    text: `${group === '' ? '' : `${group}/`}${version}/${text}`,
    group: compileText(group),
    version: compileText(version),
    kind: anything,
    subresource: compileText(subresource),
    resource: compileText(resource),
  };
}

function splitResource(text: string): { readonly resource: string; readonly subresource: string } {
  const slash = text.indexOf('/');
  if (slash === -1) return { resource: text, subresource: '' };
  return { resource: text.slice(0, slash), subresource: text.slice(slash + 1) };
}

const anything = compileWildcard('*');

/** Unlike in a ClusterPolicy, `*` alone is a wildcard: Kubernetes compares everything else as it is. */
function compileText(text: string): TextMatcher {
  return text === '*' ? anything : { pattern: text, literal: true, matches: (other) => other === text };
}

/** Patterns such as `deploy*`, which match nothing. */
function warnOfPatterns(rule: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['apiGroups', 'apiVersions', 'resources']) {
    readTexts(rule, field).forEach((text, index) => {
      const { resource, subresource } =
        field === 'resources' ? splitResource(text) : { resource: text, subresource: '' };
      if (![resource, subresource].some((part) => part !== '*' && hasWildcard(part))) return;
      reporter.warn(
        [...path, field, index],
        'KYM_NEVER_APPLIES',
        `${JSON.stringify(text)} matches nothing: only "*" is a wildcard here`,
        'List the names, or use "*" and a match condition.',
      );
    });
  }
}

function matchesRule(rule: ResourceRule, request: CelRequest): boolean {
  const { group, version, kind } = request.kind;
  const key: KindKey = { group, version, kind, subresource: request.subresource, resource: request.resource };
  return (
    (request.operation === undefined || rule.operations.has(request.operation)) &&
    rule.kinds.some((selector) => matchesKind(selector, key)) &&
    matchesScope(rule.scope, request)
  );
}

function isNamespace({ kind }: CelRequest): boolean {
  return kind.kind === 'Namespace' && kind.group === '';
}

function matchesScope(scope: string, request: CelRequest): boolean {
  const isCluster = isNamespace(request) || request.namespace === '';
  return scope === '*' || (scope === 'Cluster') === isCluster;
}

/** Without a name, a listed name may be the beginning of generateName. */
function matchesName(names: readonly string[], object: JsonObject, request: CelRequest): boolean {
  if (names.length === 0) return true;
  if (request.name !== '') return names.includes(request.name);
  const prefix = textOf(metadataOf(object)['generateName']);
  return prefix !== '' && names.some((name) => prefix.startsWith(name));
}

/** Never excludes cluster-scoped objects, except Namespaces by their own labels. */
function selectsNamespace(selector: CompiledLabelSelector, object: JsonObject, host: CelHost): boolean {
  const { request } = host;
  if (isNamespace(request) && (request.operation === 'CREATE' || request.operation === 'UPDATE')) {
    const name = request.name || textOf(metadataOf(object)['name']);
    return selector.matches({ 'kubernetes.io/metadata.name': name, ...labelsOf(object) });
  }
  const namespace = isNamespace(request) ? request.name : request.namespace;
  if (namespace === '') return true;
  const answer = host.read({ type: 'namespaceLabels', namespace });
  return selector.matches(answer.found ? (answer.value as JsonObject) : {});
}

function selectsObject(selector: CompiledLabelSelector, object: JsonObject, old: JsonObject | null): boolean {
  return selector.matches(labelsOf(object)) || (old !== null && selector.matches(labelsOf(old)));
}

function describeRule({ kinds, operations, scope, resourceNames }: ResourceRule): string {
  const names = resourceNames.length === 0 ? '' : ` named ${resourceNames.join(', ')}`;
  const scoped = scope === '*' ? '' : ` (${scope})`;
  return `${[...operations].join(', ')} of ${kinds.map(({ text }) => text).join(', ')}${scoped}${names}`;
}

function nameOfRequest({ operation, kind, name, namespace, subresource }: CelRequest): string {
  const kindName = subresource === '' ? kind.kind : `${kind.kind}/${subresource}`;
  return `${operation ?? 'no operation'} of ${kindName} ${namespace === '' ? name : `${namespace}/${name}`}`;
}
