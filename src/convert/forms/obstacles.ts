import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import type { Node } from '../../cel/syntax/ast.ts';
import { parse } from '../../cel/syntax/parser.ts';
import { CelSyntaxError } from '../../cel/syntax/problem.ts';
import { read, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { findNode } from '../../policy/cel/parts.ts';
import type { Refusal } from '../types.ts';

export interface PlacedSource {
  readonly path: string;
  readonly source: string;
}

/** The expressions of a CEL policy. */
export function sourcesOf(spec: JsonObject): readonly PlacedSource[] {
  const named = (field: string) =>
    readObjects(spec, field).map((entry, index) => ({
      path: `spec.${field}[${index}].expression`,
      source: readText(entry, 'expression') ?? '',
    }));
  const mutations = readObjects(spec, 'mutations').flatMap((mutation, index) =>
    ['applyConfiguration', 'jsonPatch'].flatMap((field) => {
      const source = readText(readObject(mutation, field) ?? {}, 'expression');
      return source === undefined ? [] : [{ path: `spec.mutations[${index}].${field}.expression`, source }];
    }),
  );
  return [...named('matchConditions'), ...named('variables'), ...mutations];
}

/** Whether an expression reads a name. */
export function readsName(source: string, name: string): boolean {
  try {
    const isName = (node: Node) => node.kind === 'ident' && node.name === name;
    return findNode(parse(source, mutatingPolicyEnvironment().macros), isName) !== undefined;
  } catch (error) {
    // The compiler reports the mistake.
    if (error instanceof CelSyntaxError) return false;
    throw error;
  }
}

export function operationsOf(spec: JsonObject): ReadonlySet<string> {
  const rules = readObjects(readObject(spec, 'matchConstraints') ?? {}, 'resourceRules');
  return new Set(rules.flatMap((rule) => readTexts(rule, 'operations')));
}

/** What both kinds evaluate in a different way. */
export function commonObstacles(spec: JsonObject): readonly Refusal[] {
  const refusals: Refusal[] = [];
  if (readText(spec, 'failurePolicy') === 'Ignore' && readObjects(spec, 'mutations').length > 1) {
    refusals.push({
      path: 'spec.failurePolicy',
      reason:
        'after a failure that is ignored, a MutatingAdmissionPolicy keeps what its other mutations changed, and a MutatingPolicy drops it',
    });
  }
  const operations = operationsOf(spec);
  if (operations.has('CREATE') || operations.has('*')) {
    const reader = sourcesOf(spec).find(({ source }) => readsName(source, 'oldObject'));
    if (reader !== undefined) {
      refusals.push({
        path: reader.path,
        reason:
          'it reads oldObject, which is null in a MutatingAdmissionPolicy and an empty map in a MutatingPolicy when an object is created',
      });
    }
  }
  return refusals;
}

/** A refusal for each of the fields that a policy sets. */
export function fieldObstacles(
  spec: JsonObject,
  fields: Readonly<Record<string, string>>,
): readonly Refusal[] {
  return Object.entries(fields).flatMap(([path, reason]) => {
    const value = path
      .split('.')
      .reduce<JsonObject | undefined>(
        (holder, token, index, tokens) =>
          holder === undefined || index === tokens.length - 1 ? holder : readObject(holder, token),
        spec,
      );
    const last = path.split('.').at(-1) ?? '';
    return value !== undefined && isSet(read(value, last)) ? [{ path: `spec.${path}`, reason }] : [];
  });
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
