import { compileLabelSelector } from '../../expression/label-selector.ts';
import { EvaluationError, type Scope } from '../../expression/scope.ts';
import type { CompiledTemplate } from '../../expression/template/template.ts';
import { compileWildcard, hasWildcard } from '../../expression/wildcard.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, CompiledTarget } from '../../policy/compiled.ts';
import { refOf, refTitle } from '../object-identity.ts';
import type { ListQuery, ObjectReader, ObjectRef } from '../ports.ts';
import { isInScope, listInScope } from '../scope.ts';
import { labelSelectorText } from '../store/label-selector-text.ts';

/** A target selector with resolved variables. An empty name or namespace matches all. */
export interface TargetQuery {
  readonly apiVersion: string;
  readonly kind: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labelSelector?: string | undefined;
}

export interface FoundTarget {
  readonly ref: ObjectRef;
  readonly object: JsonObject;
}

/** Resolves variables against the trigger. Throws EvaluationError. */
export function renderTarget(target: CompiledTarget, scope: Scope): TargetQuery {
  const text = (field: string, template: CompiledTemplate | undefined): string => {
    const value = template?.render(scope) ?? '';
    if (typeof value === 'string') return value;
    throw new EvaluationError('KYM_TARGET_SELECTOR', `${field} must be a string`, {
      location: [...target.path, field],
    });
  };
  const [kind = '', subresource = ''] = text('kind', target.kind).split(/[/.]/);
  if (kind === '') {
    throw new EvaluationError('KYM_TARGET_SELECTOR', 'the target has no kind', { location: target.path });
  }
  const labelSelector = renderSelector(target, scope);
  const namespace = text('namespace', target.namespace);
  return {
    apiVersion: text('apiVersion', target.apiVersion),
    kind,
    subresource,
    namespace,
    name: text('name', target.name),
    uid: text('uid', target.uid),
    labelSelector,
  };
}

function renderSelector(target: CompiledTarget, scope: Scope): string | undefined {
  const selector = target.selector?.render(scope);
  if (selector === undefined || selector === null) return undefined;
  const problems: string[] = [];
  const report = {
    error: (_: unknown, __: unknown, message: string) => problems.push(message),
    warn: () => {},
  };
  compileLabelSelector(selector, [], report, { wildcards: false });
  if (problems.length > 0 || !isObject(selector)) {
    throw new EvaluationError('KYM_TARGET_SELECTOR', problems.join('; '), {
      location: [...target.path, 'selector'],
    });
  }
  return labelSelectorText(selector);
}

/**
 * The objects that a selector matches. An object with a literal name is read by itself and must exist; otherwise a list is
 * read and filtered.
 */
export async function findTargets(
  stated: TargetQuery,
  policy: Pick<CompiledPolicy, 'namespace'>,
  reader: ObjectReader,
): Promise<readonly FoundTarget[]> {
  const apiVersion = servedVersion(stated.apiVersion, stated.kind, reader);
  const query = { ...stated, namespace: listInScope(policy, { ...stated, apiVersion }, reader) };
  const found = isOne(query, reader) ? [await readOne(query, reader)] : await readList(query, reader);
  return found.filter(({ ref }) => isInScope(policy, ref, reader));
}

function isOne({ apiVersion, kind, namespace, name }: TargetQuery, reader: ObjectReader): boolean {
  if (name === '' || [apiVersion, kind, namespace, name].some(hasWildcard) || apiVersion === '') return false;
  const namespaced = reader.isNamespaced(apiVersion, kind);
  return namespaced === undefined ? false : namespaced === (namespace !== '');
}

async function readOne(query: TargetQuery, reader: ObjectReader): Promise<FoundTarget> {
  const { apiVersion, kind, namespace, name, subresource, uid } = query;
  const ref: ObjectRef = {
    apiVersion,
    kind,
    namespace,
    name,
    subresource: subresource === '' ? undefined : subresource,
  };
  const object = await reader.get(ref);
  if (object === undefined || (uid !== '' && refOf(object).uid !== uid)) {
    throw new EvaluationError('KYM_TARGET_NOT_FOUND', `${refTitle(ref)} does not exist`);
  }
  return { ref: withUid(ref, object), object };
}

async function readList(query: TargetQuery, reader: ObjectReader): Promise<readonly FoundTarget[]> {
  const namespaces = compileWildcard(query.namespace === '' ? '*' : query.namespace);
  const names = compileWildcard(query.name === '' ? '*' : query.name);
  const listed = await reader.list(listQuery(query, reader));
  const objects = listed.filter((object) => {
    const { namespace, name, uid } = refOf(object);
    return namespaces.matches(namespace) && names.matches(name) && (query.uid === '' || query.uid === uid);
  });
  const found = objects.map((object) => ({ ref: refOf(object), object }));
  return query.subresource === '' ? found : readParts(found, query.subresource, reader);
}

/** Subresources cannot be listed: each is read from its parent. Parents without it are left out. */
async function readParts(
  parents: readonly FoundTarget[],
  subresource: string,
  reader: ObjectReader,
): Promise<readonly FoundTarget[]> {
  const parts: FoundTarget[] = [];
  for (const { ref } of parents) {
    const part = { ...ref, subresource };
    const object = await reader.get(part);
    if (object !== undefined) parts.push({ ref: part, object });
  }
  return parts;
}

function listQuery(query: TargetQuery, reader: ObjectReader): ListQuery {
  const { apiVersion, kind, namespace, labelSelector } = query;
  return {
    apiVersion: servedVersion(apiVersion, kind, reader),
    kind,
    namespace: namespace === '' || hasWildcard(namespace) ? undefined : namespace,
    labelSelector,
  };
}

/** A version without group means the core group, or any group if the core group has no such kind. */
function servedVersion(apiVersion: string, kind: string, reader: ObjectReader): string {
  if (apiVersion === '') return '*';
  const isOpen = !apiVersion.includes('/') && !hasWildcard(apiVersion) && !hasWildcard(kind);
  return isOpen && reader.isNamespaced(apiVersion, kind) === undefined ? `*/${apiVersion}` : apiVersion;
}

function withUid(ref: ObjectRef, object: JsonObject): ObjectRef {
  const { uid } = refOf(object);
  return uid === undefined ? ref : { ...ref, uid };
}
