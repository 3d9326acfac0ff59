import { hasWildcard } from '../../expression/wildcard.ts';
import { readObject, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import { type JsonObject, member } from '../../json/value.ts';
import {
  allOf,
  anyOf,
  equalTo,
  literal,
  not,
  precedence,
  primary,
  quote,
  text,
} from '../expression/cel-text.ts';
import { wildcardTest } from '../expression/wildcard.ts';
import { type CelText, NotConvertible } from '../types.ts';

/** One restriction of a match block, apart from kinds and operations. */
export interface Clause {
  readonly name: string;
  readonly test: CelText;
}

export interface ClauseOptions {
  /** The expression of the object. */
  readonly object: string;
  /** A match block ignores users if the request has none; an exclude block and an exception do not match then. */
  readonly mode: 'match' | 'exclude' | 'exception';
  /** A selector of the policy tests the labels of the namespace. */
  readonly skipNamespaceSelector: boolean;
}

/** The restrictions of a block, each as an expression that cannot fail. */
export function translateClauses(
  block: JsonObject,
  path: string,
  { object, mode, skipNamespaceSelector }: ClauseOptions,
): readonly Clause[] {
  const resources = readObject(block, 'resources') ?? {};
  const clauses: Clause[] = [];
  const add = (name: string, tests: readonly CelText[]): void => {
    if (tests.length > 0) clauses.push({ name, test: allOf(tests) });
  };
  const labels = `${object}.metadata.?labels`;
  add('names', anyMatches(nameOf(object), namesOf(resources)));
  add('namespaces', anyMatches(namespace, readTexts(resources, 'namespaces')));
  add('annotations', mapEntries(readTextMap(resources, 'annotations'), `${object}.metadata.?annotations`));
  add('selector', selectorTests(readObject(resources, 'selector'), labels, `${path}.resources.selector`));
  if (!skipNamespaceSelector) add('namespace-selector', namespaceTests(resources, path, mode));
  for (const field of ['roles', 'clusterRoles']) {
    if (readTexts(block, field).length === 0) continue;
    throw new NotConvertible(`${path}.${field}`, 'CEL does not know the roles of the user');
  }
  const subjects = readObjects(block, 'subjects').map((subject, index) =>
    subjectTest(subject, `${path}.subjects[${index}]`),
  );
  if (subjects.length > 0) {
    const known = total('has(request.userInfo.username)', precedence.primary);
    add('subjects', [anyOf(mode === 'match' ? [not(known), ...subjects] : subjects)]);
  }
  return clauses;
}

function total(source: string, level: number = precedence.relation): CelText {
  return { ...text(source, 'bool', level), total: true };
}

function wildcard(subject: CelText, pattern: string): CelText {
  return { ...wildcardTest(subject, pattern), total: true };
}

function namesOf(resources: JsonObject): readonly string[] {
  const single = readText(resources, 'name');
  return single === undefined || single === '' ? readTexts(resources, 'names') : [single];
}

/** An object without a name is matched by its generateName. */
function nameOf(object: string): CelText {
  return text(`${object}.metadata.?name.orValue(${object}.metadata.?generateName.orValue(''))`, 'dyn');
}

/** The namespace of a Namespace is its own name, here as in Kyverno. */
const namespace = text('request.namespace', 'string');

function anyMatches(subject: CelText, patterns: readonly string[]): readonly CelText[] {
  if (patterns.length === 0) return [];
  const plain = patterns.filter((pattern) => !hasWildcard(pattern));
  const wild = patterns.filter(hasWildcard).map((pattern) => wildcard(subject, pattern));
  const exact =
    plain.length > 1
      ? [total(`${primary(subject)} in ${literal(plain, '').source}`)]
      : plain.map((name) => wildcard(subject, name));
  return [anyOf([...exact, ...wild])];
}

/** For each pair, some entry matches both the key and the value. `map` is an optional. */
function mapEntries(wanted: Readonly<Record<string, string>>, map: string): readonly CelText[] {
  return Object.entries(wanted).map(([key, value]) => entryTest(key, value, map));
}

function entryTest(key: string, value: string, map: string): CelText {
  const found = text(`${map}[?${quote(key)}].orValue('')`, 'string');
  const entries = `${map}.orValue({})`;
  if (!hasWildcard(key)) {
    const exists = total(`${quote(key)} in ${entries}`);
    if (value === '*') return exists;
    const matches = wildcard(found, value);
    // Only these match an empty string, and a label that is absent is none.
    return /^\**$/.test(value) ? allOf([exists, matches]) : matches;
  }
  const name = wildcard(text('key', 'dyn'), key);
  const content = wildcard(text(`${entries}[key]`, 'dyn'), value);
  const both = allOf(value === '*' ? [name] : [name, content]);
  return total(`${entries}.exists(key, ${both.source})`, precedence.primary);
}

/** A label selector over an optional map. */
export function selectorTests(
  selector: JsonObject | undefined,
  map: string,
  path: string,
): readonly CelText[] {
  if (selector === undefined) return [];
  const expressions = readObjects(selector, 'matchExpressions').map((entry, index) =>
    expressionTest(entry, map, `${path}.matchExpressions[${index}]`),
  );
  return [...mapEntries(readTextMap(selector, 'matchLabels'), map), ...expressions];
}

function expressionTest(entry: JsonObject, map: string, path: string): CelText {
  const key = readText(entry, 'key') ?? '';
  const values = readTexts(entry, 'values');
  const exists = total(`${quote(key)} in ${map}.orValue({})`);
  const isIn = (): CelText => {
    const found = text(`${map}[?${quote(key)}].orValue('')`, 'string');
    const [only] = values;
    const test =
      values.length === 1 && only !== undefined
        ? { ...equalTo(found, text(quote(only), 'string')), total: true }
        : total(`${found.source} in ${literal(values, path).source}`);
    return values.includes('') ? allOf([exists, test]) : test;
  };
  switch (member(entry, 'operator')) {
    case 'In':
      return isIn();
    case 'NotIn':
      return not(isIn());
    case 'Exists':
      return exists;
    case 'DoesNotExist':
      return not(exists);
    default:
      throw new NotConvertible(path, 'the operator is not In, NotIn, Exists or DoesNotExist');
  }
}

/** The labels of its namespace never select a Namespace itself; only exceptions do not look at them then. */
function namespaceTests(
  resources: JsonObject,
  path: string,
  mode: ClauseOptions['mode'],
): readonly CelText[] {
  const selector = readObject(resources, 'namespaceSelector');
  if (selector === undefined) return [];
  const at = `${path}.resources.namespaceSelector`;
  const isNamespace = {
    ...equalTo(text('request.kind.kind', 'string'), text("'Namespace'", 'string')),
    total: true,
  };
  const tests = selectorTests(selector, 'namespaceObject.?metadata.?labels', at);
  return mode === 'exception' ? [anyOf([isNamespace, allOf(tests)])] : [not(isNamespace), ...tests];
}

function subjectTest(subject: JsonObject, path: string): CelText {
  const name = readText(subject, 'name') ?? '';
  const user = text("request.userInfo.?username.orValue('')", 'string');
  switch (readText(subject, 'kind')) {
    case 'User':
      return wildcard(user, name);
    case 'ServiceAccount':
      return wildcard(user, `system:serviceaccount:${readText(subject, 'namespace') ?? ''}:${name}`);
    case 'Group': {
      const groups = 'request.userInfo.?groups.orValue([])';
      if (!hasWildcard(name)) return total(`${quote(name)} in ${groups}`);
      const test = wildcard(text('group', 'string'), name);
      return total(`${groups}.exists(group, ${test.source})`, precedence.primary);
    }
    default:
      throw new NotConvertible(path, 'the subject is no User, Group or ServiceAccount');
  }
}
