import { admissionPolicyEnvironment } from '../../cel/environments.ts';
import { compileCel } from '../../cel/expression.ts';
import type { Environment } from '../../cel/types/environment.ts';
import { formatType } from '../../cel/types/type.ts';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

/** A policy, or what was derived from it for pod controllers. */
export interface ConditionedSpec {
  /** `autogen-defaults`; undefined for the policy itself. */
  readonly name?: string | undefined;
  readonly spec: JsonObject;
}

export interface WebhookCondition {
  readonly name: string;
  readonly expression: string;
}

const longestName = 63;
let environment: Environment | undefined;

/**
 * The match conditions that the API server can evaluate before it calls the webhook. None if one of them is not valid in
 * Kubernetes; without those that would have another value there.
 */
export function webhookConditions(specs: readonly ConditionedSpec[]): readonly WebhookCondition[] {
  environment ??= admissionPolicyEnvironment({ mutations: false });
  const result: WebhookCondition[] = [];
  for (const { name: derived, spec } of specs) {
    for (const [index, condition] of readObjects(spec, 'matchConditions').entries()) {
      const source = readText(condition, 'expression') ?? '';
      const { expression } = compileCel(source, environment);
      if (expression === undefined || formatType(expression.type) !== 'bool') return [];
      if (differs(expression.reads, spec)) continue;
      const name = readText(condition, 'name') ?? '';
      if (specs.length === 1) result.push({ name, expression: source });
      else {
        const prefix = derived ?? 'autogen';
        const full = `${prefix}-${name}`;
        result.push({
          name: full.length > longestName ? `${prefix}-${index}` : full,
          expression: `!(${resourceTest(spec)}) || (${withLineEnd(source)})`,
        });
      }
    }
  }
  return result;
}

/**
 * Whether the value may differ from ours: for webhooks `namespaceObject` is always null, and an object that a request does
 * not have is null instead of empty.
 */
function differs(reads: ReadonlySet<string>, spec: JsonObject): boolean {
  const operations = new Set(
    readObjects(readObject(spec, 'matchConstraints') ?? {}, 'resourceRules').flatMap((rule) =>
      readTexts(rule, 'operations'),
    ),
  );
  const has = (...names: readonly string[]) => ['*', ...names].some((name) => operations.has(name));
  return (
    reads.has('namespaceObject') ||
    (reads.has('oldObject') && has('CREATE', 'CONNECT')) ||
    (reads.has('object') && has('DELETE'))
  );
}

/** Whether a request is for the resources of a derived policy; these are never wildcards. */
function resourceTest(spec: JsonObject): string {
  return readObjects(readObject(spec, 'matchConstraints') ?? {}, 'resourceRules')
    .map((rule) => {
      const [group = ''] = readTexts(rule, 'apiGroups');
      const resources = readTexts(rule, 'resources').map((name) => `'${name}'`);
      return `request.resource.group == '${group}' && request.resource.resource in [${resources.join(', ')}]`;
    })
    .join(' || ');
}

/** A comment ends with its line. */
function withLineEnd(source: string): string {
  return source.includes('//') ? `${source}\n` : source;
}
