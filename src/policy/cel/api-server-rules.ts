import { isLabelValue, isQualifiedName, isSubdomain, namePatterns } from '../../expression/object-name.ts';
import { read, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import { isObject, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';

/*
 * What the API server wants of MutatingAdmissionPolicies and their bindings beyond the types of fields. It does not store a document
 * that breaks one of these rules. Kyverno accepts such documents as MutatingPolicies.
 */

const versionLabel = new RegExp(`^${namePatterns.dns1035Label}$`);

/** The name of a policy or binding, or one that a field refers to. */
export function checkObjectName(name: string | undefined, path: Path, reporter: Reporter): void {
  if (name === undefined || name === '') {
    const field = path.at(-1);
    reporter.error(path, 'KYM_FIELD_MISSING', `the field ${field} is missing or empty`, `Add ${field}.`);
  } else if (!isSubdomain(name)) {
    reporter.error(
      path,
      'KYM_FIELD_VALUE',
      `${JSON.stringify(name)} is not a valid name`,
      'Use lower case letters, digits, - and dots, at most 253 characters.',
    );
  }
}

/** `paramKind` of a policy. */
export function checkParamKind(spec: JsonObject, reporter: Reporter): void {
  const paramKind = readObject(spec, 'paramKind');
  if (paramKind === undefined) return;
  const apiVersion = readText(paramKind, 'apiVersion') ?? '';
  const parts = apiVersion.split('/');
  const version = parts.pop() ?? '';
  const isGroup = parts.length === 0 || parts[0] === '' || isSubdomain(parts[0] ?? '');
  if (parts.length > 1 || !isGroup || version.length > 63 || !versionLabel.test(version)) {
    reporter.error(
      ['spec', 'paramKind', 'apiVersion'],
      'KYM_FIELD_VALUE',
      `${JSON.stringify(apiVersion)} is not an API version`,
      'Write VERSION or GROUP/VERSION: v1, example.com/v1.',
    );
  }
  const kind = readText(paramKind, 'kind') ?? '';
  if (kind.length > 63 || !versionLabel.test(kind.toLowerCase())) {
    const hint = 'Use the name of a kind, such as ConfigMap.';
    const message = `${JSON.stringify(kind)} is not a kind`;
    reporter.error(['spec', 'paramKind', 'kind'], 'KYM_FIELD_VALUE', message, hint);
  }
}

/** `paramRef` of a binding, whether or not the policy has a `paramKind`. */
export function checkParamRef(spec: JsonObject, version: string, reporter: Reporter): void {
  const reference = readObject(spec, 'paramRef');
  if (reference === undefined) return;
  const path: Path = ['spec', 'paramRef'];
  const name = readText(reference, 'name') ?? '';
  const selector = read(reference, 'selector');
  if ((name === '') === (selector === undefined)) {
    reporter.error(path, 'KYM_FIELD_CONFLICT', 'paramRef needs either name or selector', 'Set one of them.');
  }
  checkPathSegment(name, [...path, 'name'], reporter);
  if (selector !== undefined) checkSelector(selector, [...path, 'selector'], reporter);
  // Only v1alpha1 has a default.
  if (readText(reference, 'parameterNotFoundAction') === undefined && !version.endsWith('/v1alpha1')) {
    reporter.error(
      path,
      'KYM_FIELD_MISSING',
      'the field parameterNotFoundAction is missing',
      'Add parameterNotFoundAction: Deny, or Allow.',
    );
  }
}

/** Names of objects that are part of a URL. */
function checkPathSegment(name: string, path: Path, reporter: Reporter): void {
  if (name !== '.' && name !== '..' && !/[/%]/.test(name)) return;
  const message = `${JSON.stringify(name)} is not a name of an object`;
  reporter.error(path, 'KYM_FIELD_VALUE', message, 'A name has no / and no %, and is not . or ..');
}

/** `matchConstraints` or `matchResources`. */
export function checkMatchResources(constraints: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['namespaceSelector', 'objectSelector']) {
    const selector = read(constraints, field);
    if (selector !== undefined) checkSelector(selector, [...path, field], reporter);
  }
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    readObjects(constraints, field).forEach((rule, index) => {
      checkRule(rule, [...path, field, index], field === 'resourceRules', reporter);
    });
  }
}

function checkRule(rule: JsonObject, path: Path, matches: boolean, reporter: Reporter): void {
  for (const field of ['apiGroups', 'apiVersions', 'operations']) {
    const texts = readTexts(rule, field);
    if (texts.length < 2 || !texts.includes('*')) continue;
    const message = `'*' is present with other ${field}`;
    reporter.error([...path, field], 'KYM_FIELD_VALUE', message, 'Remove what the wildcard covers.');
  }
  for (const field of ['apiVersions', 'resources']) {
    const index = readTexts(rule, field).indexOf('');
    if (index === -1) continue;
    reporter.error([...path, field, index], 'KYM_FIELD_VALUE', `an entry of ${field} is empty`, 'Remove it.');
  }
  const overlap = overlapOf(readTexts(rule, 'resources'));
  if (overlap !== undefined) {
    reporter.error([...path, 'resources'], 'KYM_FIELD_VALUE', overlap, 'Remove what the wildcard covers.');
  }
  const seen = new Set<string>();
  readTexts(rule, 'resourceNames').forEach((name, index) => {
    const at: Path = [...path, 'resourceNames', index];
    checkPathSegment(name, at, reporter);
    if (seen.has(name)) {
      reporter.error(at, 'KYM_FIELD_CONFLICT', `the name ${name} is listed twice`, 'Remove one of them.');
    }
    seen.add(name);
  });
  const deletion = matches ? readTexts(rule, 'operations').indexOf('DELETE') : -1;
  if (deletion === -1) return;
  reporter.error(
    [...path, 'operations', deletion],
    'KYM_FIELD_VALUE',
    'a MutatingAdmissionPolicy cannot match DELETE',
    'Use CREATE, UPDATE, CONNECT or "*".',
  );
}

/** The API server compares each entry with those before it only, so the order counts. */
function overlapOf(resources: readonly string[]): string | undefined {
  const wildcards = new Set<string>();
  let endsWithName = false;
  for (const text of resources) {
    const slash = text.indexOf('/');
    if (slash === -1) {
      if (text !== '') endsWithName = text !== '*';
      continue;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    for (const wildcard of [`${resource}/*`, `*/${subresource}`]) {
      if (wildcards.has(wildcard)) return `'${wildcard}' is present with '${text}'`;
    }
    if (subresource === '*' || resource === '*') wildcards.add(text);
  }
  if (resources.length > 1 && resources.includes('*/*')) return "'*/*' is present with other resources";
  return resources.includes('*') && endsWithName
    ? "'*' is present with other resources without subresources"
    : undefined;
}

/** Keys and values of a selector are those that labels can have. */
function checkSelector(selector: unknown, path: Path, reporter: Reporter): void {
  if (!isObject(selector as JsonObject)) return;
  const checkKey = (key: string, at: Path): void => {
    if (isQualifiedName(key)) return;
    const message = `${JSON.stringify(key)} is not a label key`;
    reporter.error(at, 'KYM_LABEL_SELECTOR', message, 'Write NAME or PREFIX/NAME.');
  };
  const checkValue = (value: unknown, at: Path): void => {
    if (typeof value !== 'string' || isLabelValue(value)) return;
    const message = `${JSON.stringify(value)} is not a label value`;
    reporter.error(
      at,
      'KYM_LABEL_SELECTOR',
      message,
      'Use letters, digits, -, _ and dots. It has no wildcards.',
    );
  };
  const labels = readObject(selector as JsonObject, 'matchLabels') ?? {};
  for (const [key, value] of Object.entries(labels)) {
    checkKey(key, [...path, 'matchLabels', key]);
    checkValue(value, [...path, 'matchLabels', key]);
  }
  readObjects(selector as JsonObject, 'matchExpressions').forEach((entry, index) => {
    const at: Path = [...path, 'matchExpressions', index];
    const key = readText(entry, 'key') ?? '';
    if (key !== '') checkKey(key, [...at, 'key']);
    readTexts(entry, 'values').forEach((value, place) => {
      checkValue(value, [...at, 'values', place]);
    });
  });
}

/** A mutation has the body of its type only. */
export function checkBodies(spec: JsonObject, reporter: Reporter): void {
  readObjects(spec, 'mutations').forEach((mutation, index) => {
    const patchType = readText(mutation, 'patchType') ?? '';
    const other = patchType === 'JSONPatch' ? 'applyConfiguration' : 'jsonPatch';
    if (read(mutation, other) === undefined) return;
    reporter.error(
      ['spec', 'mutations', index, other],
      'KYM_FIELD_CONFLICT',
      `a mutation of type ${patchType} cannot have ${other}`,
      'Remove it, or make it a mutation of its own.',
    );
  });
}
