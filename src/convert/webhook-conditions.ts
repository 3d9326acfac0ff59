import { admissionPolicyEnvironment } from '../cel/environments.ts';
import { compileCel } from '../cel/expression.ts';
import type { Environment } from '../cel/types/environment.ts';
import { formatType } from '../cel/types/type.ts';
import { readObject, readObjects, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { ConversionTarget, Refusal } from './types.ts';

export interface NamedCondition {
  readonly name: string;
  readonly expression: string;
}

const field = 'matchConditions';
export const webhookConditionsPath = `spec.webhookConfiguration.${field}`;
let environment: Environment | undefined;

/** The conditions under which the API server calls the webhook of the old policy. */
export function webhookConditionsOf(old: JsonObject): readonly NamedCondition[] {
  const webhook = readObject(readObject(old, 'spec') ?? {}, 'webhookConfiguration') ?? {};
  return readObjects(webhook, field).map((condition) => ({
    name: readText(condition, 'name') ?? '',
    expression: readText(condition, 'expression') ?? '',
  }));
}

/** Why the converted policy cannot have the conditions. `operations` are those that its rules match. */
export function refusedCondition(
  old: JsonObject,
  operations: ReadonlySet<string>,
  to: ConversionTarget,
): Refusal | undefined {
  for (const [index, { expression }] of webhookConditionsOf(old).entries()) {
    const reason = reasonAgainst(expression, operations, to);
    if (reason !== undefined) return { path: `${webhookConditionsPath}[${index}].expression`, reason };
  }
  return undefined;
}

function reasonAgainst(
  source: string,
  operations: ReadonlySet<string>,
  to: ConversionTarget,
): string | undefined {
  environment ??= admissionPolicyEnvironment({ mutations: false });
  const { expression, problems } = compileCel(source, environment);
  if (expression === undefined)
    return `the expression is not valid in Kubernetes: ${problems[0]?.message ?? 'it does not compile'}`;
  if (formatType(expression.type) !== 'bool') return 'the expression is not of type bool';
  const { reads } = expression;
  if (reads.has('namespaceObject')) return 'namespaceObject is always null in the conditions of a webhook';
  if (to === 'map') return undefined;
  if ([...reads].some((name) => name.startsWith('authorizer'))) return 'a MutatingPolicy has no authorizer';
  const has = (...names: readonly string[]) => ['*', ...names].some((name) => operations.has(name));
  if (reads.has('oldObject') && has('CREATE', 'CONNECT'))
    return 'a request without an old object has null there, but an empty object in a MutatingPolicy';
  if (reads.has('object') && has('DELETE'))
    return 'a request to delete has null as its object, but an empty object in a MutatingPolicy';
  return undefined;
}

/** The expressions as one: the value of the second counts only where all of the first are true. A failure of one of these is a failure. */
export function allBefore(first: readonly NamedCondition[], second: readonly NamedCondition[]): string {
  return `${conjunction(first)}\n  ? ${conjunction(second)}\n  : false`;
}

function conjunction(conditions: readonly NamedCondition[]): string {
  return conditions.map(({ expression }) => `(${withLineEnd(expression)})`).join(' && ');
}

/** A comment ends with its line. */
function withLineEnd(source: string): string {
  return source.includes('//') ? `${source}\n` : source;
}
