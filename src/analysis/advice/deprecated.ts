import { read, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { conditionGroups, conditionPlaces } from '../../policy/check/condition-places.ts';
import { policySchema } from '../../policy/schema/policy.ts';
import type { FieldType, ObjectSchema } from '../../policy/schema/schema.ts';
import type { Reporter } from '../../problem.ts';

const convert = 'kymera convert rewrites it.';

/** Reports versions and fields that the schema marks as deprecated. */
export function adviseOnDeprecatedFields(document: JsonObject, alpha: boolean, reporter: Reporter): void {
  const version = readText(document, 'apiVersion') ?? '';
  if (alpha) {
    const message = `${version} is the original policy format, which Kyverno no longer supports`;
    reporter.warn(['apiVersion'], 'KYM_DEPRECATED', message, convert);
    return;
  }
  if (version === 'kyverno.io/v2beta1' || version === 'kyverno.io/v1alpha1') {
    reporter.warn(['apiVersion'], 'KYM_DEPRECATED', `${version} is deprecated: use kyverno.io/v1`, convert);
  }
  walkObject(document, policySchema, [], reporter);
}

function walkObject(value: JsonObject, schema: ObjectSchema, path: Path, reporter: Reporter): void {
  for (const [key, inner] of Object.entries(value)) {
    const field = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (field === undefined || inner === null) continue;
    const at = [...path, key];
    if (field.deprecated === 'nothing') {
      reporter.warn(at, 'KYM_DEPRECATED', `${key} no longer has any effect`, 'Remove it.');
    } else if (field.deprecated !== undefined) {
      reporter.warn(at, 'KYM_DEPRECATED', `${key} is deprecated: use ${field.deprecated}`, convert);
    }
    walk(inner, field.type, at, reporter);
  }
}

function walk(value: Json, type: FieldType, path: Path, reporter: Reporter): void {
  if (typeof type !== 'object') return;
  if ('lazy' in type) walk(value, type.lazy(), path, reporter);
  else if ('object' in type) {
    if (isObject(value)) walkObject(value, type.object, path, reporter);
  } else if (isArray(value)) {
    value.forEach((item, index) => {
      walk(item, type.list, [...path, index], reporter);
    });
  }
}

/** Operators that were renamed. */
const operators: Readonly<Record<string, string>> = {
  Equal: 'Equals',
  NotEqual: 'NotEquals',
  In: 'AnyIn or AllIn',
  NotIn: 'AnyNotIn or AllNotIn',
};

/** Reports plain lists of conditions, and operators that were renamed. */
export function adviseOnDeprecatedConditions(rule: JsonObject, reporter: Reporter): void {
  for (const place of conditionPlaces(rule)) {
    if (isArray(read(place.holder, 'preconditions'))) {
      const message = 'a plain list of conditions is deprecated: put it under all';
      reporter.warn([...place.path, 'preconditions'], 'KYM_DEPRECATED', message, convert);
    }
    for (const { path, conditions } of conditionGroups(place)) {
      conditions.forEach((condition, index) => {
        const operator = isObject(condition) ? (readText(condition, 'operator') ?? '') : '';
        if (!Object.hasOwn(operators, operator)) return;
        const message = `the operator ${operator} is deprecated: use ${operators[operator]}`;
        reporter.warn([...path, index, 'operator'], 'KYM_DEPRECATED', message);
      });
    }
  }
}
