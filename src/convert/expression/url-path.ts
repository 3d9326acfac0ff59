import { findVariables } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import { resourceOf } from '../../policy/resource-name.ts';
import { NotConvertible, type Scope } from '../types.ts';
import { quote } from './cel-text.ts';
import { templateTerm } from './template.ts';

/** A call of the API server as `resource.Get` or `resource.List`. */
export interface ApiRequest {
  readonly source: string;
  readonly isGet: boolean;
  readonly schema?: StructuredSchema | undefined;
}

/** Reads `/api/v1/namespaces/NS/configmaps/NAME`, whose segments may be variables. */
export function apiRequest(urlPath: string, path: string, scope: Scope): ApiRequest {
  const refuse = (): never => {
    throw new NotConvertible(path, 'the path names neither an object nor a list of the API server');
  };
  const segments = splitSegments(urlPath);
  if (urlPath.includes('?')) throw new NotConvertible(path, 'the path has a query');
  const [empty, root, ...rest] = segments;
  if (empty !== '' || hasWildcard(urlPath)) return refuse();
  const group = root === 'apis' ? rest.shift() : root === 'api' ? '' : undefined;
  const version = rest.shift();
  if (group === undefined || version === undefined || isVariable(group) || isVariable(version))
    return refuse();
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2;
  const namespace = isNamespaced ? (rest.splice(0, 2)[1] ?? '') : '';
  const [resource, name, ...more] = rest;
  if (resource === undefined || resource === '' || isVariable(resource) || more.length > 0) return refuse();
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const segment = (value: string): string => {
    const term = templateTerm(value, path, scope);
    return term.type === 'string' || term.constant !== undefined ? term.source : `string(${term.source})`;
  };
  const space = namespace === '' ? "''" : segment(namespace);
  const head = `${quote(apiVersion)}, ${quote(resource)}, ${space}`;
  const schema = schemaOf(apiVersion, resource);
  if (name !== undefined) return { source: `resource.Get(${head}, ${segment(name)})`, isGet: true, schema };
  return {
    source: `resource.List(${head})`,
    isGet: false,
    schema: schema === undefined ? undefined : listSchema(schema),
  };
}

/** Slashes inside of variables do not separate. */
function splitSegments(urlPath: string): string[] {
  const tokens = findVariables(urlPath);
  const parts: string[] = [''];
  for (let at = 0; at < urlPath.length; at++) {
    const token = tokens.find(({ start }) => start === at);
    if (token !== undefined) {
      parts.push(`${parts.pop() ?? ''}${urlPath.slice(token.start, token.end)}`);
      at = token.end - 1;
    } else if (urlPath.charAt(at) === '/') parts.push('');
    else parts.push(`${parts.pop() ?? ''}${urlPath.charAt(at)}`);
  }
  return parts;
}

function isVariable(segment: string): boolean {
  return findVariables(segment).length > 0;
}

function schemaOf(apiVersion: string, resource: string): StructuredSchema | undefined {
  const kind = Object.keys(mergeKinds)
    .filter((key) => key.startsWith(`${apiVersion}/`))
    .map((key) => key.slice(apiVersion.length + 1))
    .find((name) => !name.includes('/') && resourceOf(name) === resource);
  return kind === undefined ? undefined : builtInSchema(apiVersion, kind);
}

function listSchema(items: StructuredSchema): StructuredSchema {
  const list: StructuredSchema = { kind: 'list', merge: 'atomic', keys: [], items };
  return {
    kind: 'map',
    atomic: true,
    field: (name) => (name === 'items' ? list : undefined),
    declares: (name) => name === 'items',
    fieldNames: ['items'],
    defaults: {},
  };
}
