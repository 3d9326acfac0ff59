import { describe, expect, test } from 'vitest';
import type { CelScope } from './compile/closure.ts';
import { admissionPolicyEnvironment, declareStruct, mutatingPolicyEnvironment } from './environments.ts';
import { compileCel } from './expression.ts';
import { type Authorize, authorizerValue, requestResourceValue } from './library/authorizer.ts';
import { contextValues, type HttpContext, type ResourceContext } from './library/context.ts';
import { typeNameMismatches } from './library/object.ts';
import { type Environment, extendEnvironment } from './types/environment.ts';
import { structType, typeName } from './types/type.ts';
import { CelError } from './value/error.ts';
import { toJson } from './value/json.ts';
import { LazyObject, type StructValue, type Value } from './value/value.ts';

function scope(variables: Readonly<Record<string, Value>>): CelScope {
  return {
    lookup: (name) => variables[name],
    effects: { now: () => new Date(0), random: () => 0 },
  };
}

function evaluate(
  source: string,
  environment: Environment,
  variables: Readonly<Record<string, Value>> = {},
): Value {
  const { expression, problems } = compileCel(source, environment);
  expect(problems).toEqual([]);
  return expression?.evaluate(scope(variables)) ?? null;
}

function compiles(source: string, environment: Environment): boolean {
  return compileCel(source, environment).expression !== undefined;
}

const resources: ResourceContext = {
  get: (apiVersion, resource, namespace, name) => ({ found: [apiVersion, resource, namespace, name] }),
  list: (apiVersion, resource, namespace, labels) => ({ items: [apiVersion, resource, namespace, labels] }),
  post: (_apiVersion, _resource, namespace, object) => ({ namespace, ...object }),
  toGroupVersionResource: (apiVersion, kind) => ({
    group: '',
    version: apiVersion,
    resource: `${kind.toLowerCase()}s`,
  }),
};

describe('a MutatingPolicy', () => {
  const environment = mutatingPolicyEnvironment();
  const variables = { resource: contextValues.resource(resources) };

  test.each([
    ['resource.Get("v1", "configmaps", "ns", "n").found', ['v1', 'configmaps', 'ns', 'n']],
    ['resource.get(resource.toGVR("v1", "Secret"), "ns", "n").found', ['v1', 'secrets', 'ns', 'n']],
    ['resource.List("v1", "pods", "").items', ['v1', 'pods', '', {}]],
    ['resource.List("v1", "pods", "ns", {"a": "b"}).items', ['v1', 'pods', 'ns', { a: 'b' }]],
    ['resource.Post("v1", "pods", "ns", {"a": dyn(1)})', { namespace: 'ns', a: 1 }],
  ])('%s', (source, expected) => {
    expect(evaluate(source, environment, variables)).toEqual(expected);
  });

  test('a lookup is no null and has no static fields', () => {
    expect(compiles('resource.Get("v1", "pods", "ns", "n") == null', environment)).toBe(false);
    expect(compiles('dyn(resource.Get("v1", "pods", "ns", "n")) == null', environment)).toBe(true);
  });

  test('http, globalContext and image', () => {
    const http = (authority: string): HttpContext => ({
      get: (url, headers) => ({ url, headers, authority }),
      post: (url, body) => ({ url, body }),
      client: http,
    });
    const values = {
      http: contextValues.http(http('')),
      globalContext: contextValues.globalContext({ get: (name, projection) => `${name}/${projection}` }),
      image: contextValues.image({ get: (reference) => ({ reference }) }),
    };
    expect(evaluate('http.Client("ca").Get("http://a").authority', environment, values)).toBe('ca');
    expect(evaluate('http.post("http://a", {"b": 1}).body.b', environment, values)).toBe(1);
    expect(evaluate('globalContext.Get("a", "b") + globalContext.get("c")', environment, values)).toBe(
      'a/bc/',
    );
    expect(evaluate('image.GetMetadata("nginx").reference', environment, values)).toBe('nginx');
  });

  test('a namespaced policy names no namespace', () => {
    const namespaced = mutatingPolicyEnvironment({ namespace: 'team' });
    expect(evaluate('resource.Get("v1", "secrets", "n").found', namespaced, variables)).toEqual([
      'v1',
      'secrets',
      'team',
      'n',
    ]);
    expect(compiles('resource.Get("v1", "secrets", "ns", "n")', namespaced)).toBe(false);
    expect(compiles('resource.List("v1", "secrets")', namespaced)).toBe(true);
  });

  test('variables are computed when they are read', () => {
    const read: string[] = [];
    const variable = declareStruct('kyverno.Variables', { x: 'int', labels: 'map(string, string)' });
    const extended = extendEnvironment(environment, {
      structs: [variable],
      variables: [{ name: 'variables', type: structType(variable.name) }],
    });
    const values = {
      variables: new LazyObject(variable.name, (name) => {
        read.push(name);
        return name === 'x' ? 4 : undefined;
      }),
    };
    expect(evaluate("variables.x + 1 > 3 ? 'a' : 'b'", extended, values)).toBe('a');
    expect(read).toEqual(['x']);
    expect(compiles('variables.y', extended)).toBe(false);
    expect(compiles('variables.x + "a"', extended)).toBe(false);
  });

  test('data that has not the declared type is an error of the expression', () => {
    const values = {
      namespaceObject: {
        metadata: { creationTimestamp: '2024-01-01T00:00:00Z', labels: 'none', finalizers: [1] },
      },
      request: { name: 1, userInfo: { groups: { a: 'b' } } },
    };
    for (const source of [
      'namespaceObject.metadata.creationTimestamp.getFullYear()',
      'namespaceObject.metadata.labels.exists(k, k == "a")',
      'namespaceObject.metadata.finalizers.exists(f, f.startsWith("a"))',
      'namespaceObject.metadata.finalizers.join(",")',
      'request.name.startsWith("a")',
      'request.name + "a"',
      'request.userInfo.groups[0]',
      'request.userInfo.groups.sort()',
    ]) {
      expect(() => evaluate(source, environment, values), source).toThrow(CelError);
    }
  });

  test('type names of objects follow the field names', () => {
    const build = (source: string) => typeNameMismatches(evaluate(source, environment) as StructValue);
    expect(build('Object{spec: Object.spec{containers: [Object.spec.containers{name: "a"}]}}')).toEqual([]);
    expect(build('Object{spec: Object.metadata{}}')).toEqual([
      'unexpected type name "Object.metadata", expected "Object.spec", which matches field name path from root Object type',
    ]);
  });

  test('values become JSON', () => {
    const json = (source: string) => toJson(evaluate(source, environment));
    expect(json('Object{a: 1, b: 2.0, c: [3u], d: timestamp(0), e: duration("90s"), f: b"hi"}')).toEqual({
      a: 1,
      b: 2,
      c: [3],
      d: '1970-01-01T00:00:00Z',
      e: '90s',
      f: 'aGk=',
    });
    expect(() => json('{1: 2}')).toThrow(CelError);
    expect(() => json('optional.none()')).toThrow('cannot be converted to JSON');
  });
});

describe('a MutatingAdmissionPolicy', () => {
  const environment = admissionPolicyEnvironment({ params: true });

  test.each([
    'sha256("a")',
    'math.abs(-1)',
    'cel.bind(x, 1, x)',
    'base64.encode(b"a")',
    'regex.replace("a", "b", "c")',
    'exceptions',
    'resource',
    '"x".orValue("y")',
    'request.object',
    'images',
  ])('%s is not available', (source) => {
    expect(compiles(source, environment)).toBe(false);
  });

  test.each([
    ['object.a.orValue("x")', 'deep'],
    ['object.or(optional.of({"a": "x"})).a.orValue("x")', 'deep'],
    ['optional.none().orValue("x")', 'x'],
  ])('%s: a value of type dyn may be no optional', (source, expected) => {
    expect(evaluate(source, environment, { object: { a: 'deep' } })).toBe(expected);
  });

  test.each([
    '{"a": "b", "c": object.or(optional.of({"a": "x"})).a}',
    '{"a": "b", "c": object.or(optional.none()).a.orValue("x")}',
  ])('%s has values of two types', (source) => {
    expect(compiles(source, environment)).toBe(false);
  });

  test.each([
    ['sha256("a")', 'sha256'],
    ['math.abs(-1)', 'math'],
    ['cel.bind(x, 1, 2)', 'cel'],
    ['exceptions.allowedImages', 'exceptions'],
    ['resource.Get("v1", "pods", "a", "b")', 'resource'],
  ])('%s has a hint', (source, name) => {
    expect(compileCel(source, environment).problems.map(({ hint }) => hint)).toContain(
      `Kubernetes does not have '${name}'; only Kyverno's MutatingPolicy has.`,
    );
  });

  test('params are declared when the policy has them', () => {
    expect(compiles('params.spec', environment)).toBe(true);
    expect(compiles('params.spec', admissionPolicyEnvironment())).toBe(false);
  });

  test('the authorizer is passed in', () => {
    const requests: unknown[] = [];
    const authorize: Authorize = (request) => {
      requests.push(request);
      return { allowed: request.verb === 'get', reason: 'because' };
    };
    const variables = {
      authorizer: authorizerValue(authorize),
      'authorizer.requestResource': requestResourceValue(authorize, { resource: 'pods', name: 'web' }),
    };
    const check = (source: string) => evaluate(source, environment, variables);
    expect(
      check('authorizer.group("apps").resource("deployments").namespace("a").check("get").allowed()'),
    ).toBe(true);
    expect(check('authorizer.requestResource.check("update").allowed()')).toBe(false);
    expect(check('authorizer.serviceAccount("a", "b").path("/healthz").check("get").reason()')).toBe(
      'because',
    );
    expect(check('authorizer.path("/").check("get").errored()')).toBe(false);
    expect(requests).toEqual([
      { group: 'apps', resource: 'deployments', namespace: 'a', verb: 'get' },
      { resource: 'pods', name: 'web', verb: 'update' },
      { serviceAccount: { namespace: 'a', name: 'b' }, path: '/healthz', verb: 'get' },
      { path: '/', verb: 'get' },
    ]);
  });

  test('mutations have their types', () => {
    const type = (source: string) =>
      typeName(compileCel(source, environment).expression?.type ?? structType(''));
    expect(type('[JSONPatch{op: "add", path: "/a", value: {"b": 1}}]')).toBe('list(JSONPatch)');
    expect(type('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}')).toBe('Object');
    expect(type('object.on ? JSONPatch{op: "remove", path: "/a"} : null')).toBe('JSONPatch');
  });
});
