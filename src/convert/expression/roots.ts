import { scalarSchemas } from '../../patch/structured/schema.ts';
import { NotConvertible, type Scope } from '../types.ts';
import { text } from './cel-text.ts';
import { definite, optionalTerm, selectField, type Term } from './term.ts';

const { string } = scalarSchemas;

/** Fields of the request that CEL has under the same name. Those that a request may lack are optional. */
const requestStrings: ReadonlyMap<string, 'always' | 'sometimes'> = new Map([
  ['operation', 'sometimes'],
  ['name', 'always'],
  ['namespace', 'always'],
  ['subResource', 'sometimes'],
]);

const nested: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['kind', new Set(['group', 'version', 'kind'])],
  ['resource', new Set(['group', 'version', 'resource'])],
  ['requestKind', new Set(['group', 'version', 'kind'])],
  ['requestResource', new Set(['group', 'version', 'resource'])],
]);

/**
 * The first steps of a path from the root: `request.object`, `request.operation`, a context entry, an element. Returns the term and
 * the number of steps that it covers.
 */
export function rootTerm(
  steps: readonly (string | number)[],
  path: string,
  scope: Scope,
): { readonly term: Term; readonly used: number } {
  const [first, second] = steps;
  if (typeof first !== 'string')
    throw new NotConvertible(path, 'the variable reads all data of the request at once');
  // The empty name in double quotes, which is often meant as an empty string, is never bound.
  if (first === '') return { term: definite(text('null', 'null'), { constant: null }), used: 1 };
  const bound = scope.lookup(first);
  if (bound !== undefined)
    return { term: definite(bound, { total: bound.total ?? false, bound: true }), used: 1 };
  if (first === 'request' && typeof second === 'string') return requestTerm(second, steps[2], path, scope);
  if (first === 'serviceAccountName' || first === 'serviceAccountNamespace') {
    return { term: serviceAccount(first, scope), used: 1 };
  }
  const reason =
    first === 'request'
      ? 'the variable reads the whole request, which has other fields in CEL'
      : first === 'images'
        ? 'the variable `images` does not exist in CEL'
        : `the variable ${first} is not defined in the rule`;
  throw new NotConvertible(path, reason);
}

function requestTerm(
  field: string,
  next: string | number | undefined,
  path: string,
  scope: Scope,
): { readonly term: Term; readonly used: number } {
  if (field === 'object') {
    const object = definite(text(scope.object, 'dyn'), { schema: scope.schema });
    // Every object has metadata.
    if (next !== 'metadata') return { term: object, used: 2 };
    const { schema } = selectField(object, 'metadata');
    return { term: definite(text(`${scope.object}.metadata`, 'dyn'), { schema }), used: 3 };
  }
  if (field === 'oldObject') {
    if (next === undefined)
      throw new NotConvertible(
        path,
        'the whole old object is null in Kyverno and empty in CEL when an object is created',
      );
    // Without an old object, each of its fields is null.
    const old = definite(text('oldObject', 'dyn'), { schema: scope.schema });
    const term = selectField(old, String(next));
    return { term: optionalTerm(term.optional ?? '', '', 'null', { schema: term.schema }), used: 3 };
  }
  const presence = requestStrings.get(field);
  if (presence === 'always') {
    return { term: definite(text(`request.${field}`, 'string'), { ascii: true }), used: 2 };
  }
  if (presence === 'sometimes') {
    const term = optionalTerm(`request.?${field}`, `request.${field}`, 'error', {
      schema: string,
      ascii: true,
      nonEmpty: true,
    });
    return { term: { ...term, type: 'string', total: field === 'operation' }, used: 2 };
  }
  if (nested.get(field)?.has(String(next)) === true) {
    return { term: definite(text(`request.${field}.${next}`, 'string'), { ascii: true }), used: 3 };
  }
  if (field === 'userInfo' && next === 'username') {
    return {
      term: optionalTerm('request.userInfo.?username', 'request.userInfo.username', 'error', {
        schema: string,
        type: 'string',
      }),
      used: 3,
    };
  }
  if (field === 'userInfo' && next === 'groups') {
    const list = { kind: 'list', merge: 'atomic', keys: [], items: string } as const;
    return {
      term: optionalTerm('request.userInfo.?groups', 'request.userInfo.groups', 'error', {
        schema: list,
        type: 'list',
      }),
      used: 3,
    };
  }
  throw new NotConvertible(
    path,
    `CEL has no field like request.${field}${next === undefined ? '' : `.${next}`}`,
  );
}

const accountPrefix = 'system:serviceaccount:';

/** Empty unless the user is a service account. */
function serviceAccount(name: 'serviceAccountName' | 'serviceAccountNamespace', scope: Scope): Term {
  const user = "request.userInfo.?username.orValue('')";
  if (scope.target === 'mutatingpolicy') {
    const field = name === 'serviceAccountName' ? 'Name' : 'Namespace';
    return definite(text(`parseServiceAccount(${user}).${field}`, 'string'));
  }
  const part = name === 'serviceAccountName' ? 3 : 2;
  return definite(
    text(
      `${user}.startsWith('${accountPrefix}') ? ${user}.split(':', 4)[?${part}].orValue('') : ''`,
      'string',
      1,
    ),
  );
}
