import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import type { ConformanceCase } from './case.ts';

/** The policy documents of a case as YAML-able values, with the short form written out. */
export function policyDocuments(testCase: ConformanceCase): readonly JsonObject[] {
  const { policy } = testCase;
  if (typeof policy === 'string') return [];
  const documents = isList(policy) ? policy : [policy];
  const kind = firstKind(testCase);
  return documents.map((document) => ('kind' in document ? document : writeOut(document, kind)));
}

export function resourcesOf(testCase: ConformanceCase): readonly JsonObject[] {
  const deleted = testCase.operation === 'DELETE' ? testCase.oldObject : undefined;
  return listOf(testCase.resource ?? deleted).map(withName);
}

export function expectedObjects(testCase: ConformanceCase): readonly JsonObject[] {
  return listOf(testCase.expect.object).map(withName);
}

export function withName(object: JsonObject): JsonObject {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  if ('name' in metadata || 'generateName' in metadata) return object;
  return { ...object, metadata: { ...metadata, name: 'x' } };
}

function writeOut(short: JsonObject, kind: string): JsonObject {
  const { name, namespace, annotations, ...spec } = short;
  return {
    apiVersion: 'kyverno.io/v1',
    kind: namespace === undefined ? 'ClusterPolicy' : 'Policy',
    metadata: {
      name: name ?? 'p',
      ...(namespace === undefined ? {} : { namespace }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: isArray(spec['rules'])
      ? { ...spec, rules: spec['rules'].map((rule, index) => writeOutRule(rule, index, kind)) }
      : spec,
  };
}

function writeOutRule(rule: Json, index: number, kind: string): Json {
  if (!isObject(rule)) return rule;
  return { name: `r${index}`, match: { any: [{ resources: { kinds: [kind] } }] }, ...rule };
}

function firstKind(testCase: ConformanceCase): string {
  const [first] = listOf(testCase.resource ?? testCase.oldObject);
  return typeof first?.['kind'] === 'string' ? first['kind'] : 'Pod';
}

function listOf(value: JsonObject | readonly JsonObject[] | undefined): readonly JsonObject[] {
  if (value === undefined) return [];
  return isList(value) ? value : [value];
}

function isList(value: JsonObject | readonly JsonObject[]): value is readonly JsonObject[] {
  return Array.isArray(value);
}
