import { type CompiledTemplate, compileTemplate } from '../../expression/template/template.ts';
import { read, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { checkVariables, type VariableScope, withNames } from '../check/variable-scope.ts';
import type { CompiledTarget } from '../compiled.ts';
import { isForeign, mayBeForeign, type PolicyFacts } from '../policy-facts.ts';
import { compileCheckedConditions } from './conditions.ts';
import { compileContext } from './context.ts';

const selectorFields = ['apiVersion', 'kind', 'namespace', 'name', 'uid', 'selector'] as const;

export interface CompiledTargets {
  readonly targets: readonly CompiledTarget[];
  /** Patches can read the target and the variables of the targets' contexts. */
  readonly scope: VariableScope;
}

export function compileTargets(
  documents: readonly JsonObject[],
  path: Path,
  reporter: Reporter,
  facts: PolicyFacts,
  outer: VariableScope,
): CompiledTargets {
  let scope = withNames(outer, 'target');
  const targets = documents.map((document, index) => {
    const at = [...path, index];
    checkNamespace(document, at, facts, reporter);
    // The target is unknown during selection, so selectors can read only the trigger.
    const selectors = selectorFields.flatMap((field) => {
      const template = compileField(document, field, at, reporter, outer);
      return template === undefined ? [] : [[field, template]];
    });
    const inner = compileContext(
      readObjects(document, 'context'),
      [...at, 'context'],
      reporter,
      facts,
      withNames(outer, 'target'),
    );
    const conditions = read(document, 'preconditions');
    const conditionsPath = [...at, 'preconditions'];
    const preconditions = compileCheckedConditions(conditions, conditionsPath, reporter, inner.scope, {
      legacyList: true,
    });
    scope = withNames(scope, ...inner.scope.names);
    return {
      path: at,
      ...Object.fromEntries(selectors),
      context: inner.entries,
      ...(preconditions === undefined ? {} : { preconditions }),
    } as CompiledTarget;
  });
  return { targets, scope };
}

function compileField(
  document: JsonObject,
  field: string,
  path: Path,
  reporter: Reporter,
  scope: VariableScope,
): CompiledTemplate | undefined {
  const value = read(document, field);
  if (value === undefined || value === '') return undefined;
  const template = compileTemplate(value, [...path, field], reporter);
  checkVariables(template.roots, scope, [...path, field], reporter, value);
  return template;
}

function checkNamespace(document: JsonObject, path: Path, facts: PolicyFacts, reporter: Reporter): void {
  const namespace = readText(document, 'namespace') ?? '';
  if (mayBeForeign(namespace, facts)) {
    const message = `a Policy can change only objects of its own namespace: the API server refuses this one unless it is applied in ${namespace}`;
    reporter.warn(
      [...path, 'namespace'],
      'KYM_NAMESPACE_SCOPE',
      message,
      `Set metadata.namespace to ${namespace}, or use a ClusterPolicy.`,
    );
  }
  if (!isForeign(namespace, facts)) return;
  const message = `a Policy in ${facts.namespace} cannot change objects in ${namespace}`;
  const hint = 'Leave namespace out, or use a ClusterPolicy.';
  reporter.error([...path, 'namespace'], 'KYM_NAMESPACE_SCOPE', message, hint);
}
