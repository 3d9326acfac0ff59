import { EvaluationError, type Scope } from '../expression/scope.ts';
import { isArray, type JsonObject } from '../json/value.ts';
import type { CompiledReplacement, SourceLookup, SourceSelector } from '../patch/replacement/replacement.ts';
import { type ContextSettings, checkScope } from './context/context.ts';
import { at } from './stage.ts';

/** Replacement rules of one policy rule, in order; a later one sees the changes of earlier ones. */
export function runReplacements(
  replacements: readonly CompiledReplacement[],
  object: JsonObject,
  scope: Scope,
  context: ContextSettings,
): JsonObject {
  const sources: SourceLookup = { find: (selector) => findSource(selector, context) };
  let current = object;
  for (const [index, replacement] of replacements.entries()) {
    current = at('patch', ['mutate', 'replacements', index], () =>
      replacement.apply(current, scope, sources),
    );
  }
  return current;
}

/** Besides the incoming object, only one named object can be read, and a Policy reads only from its own namespace. */
function findSource(selector: SourceSelector, context: ContextSettings): readonly JsonObject[] {
  const { kind, name } = selector;
  if (kind === undefined || name === undefined) return [];
  const { policyNamespace } = context;
  checkScope(context, { type: 'object', kind, namespaced: true, namespace: selector.namespace ?? '' });
  const answer = context.data.read({
    type: 'object',
    kind,
    name,
    group: selector.group,
    version: selector.version,
    namespace: policyNamespace ?? selector.namespace,
    policyNamespace,
  });
  if (!answer.found && answer.denied === true) {
    throw new EvaluationError('KYM_NAMESPACE_BOUNDARY', answer.error);
  }
  if (!answer.found) return [];
  return (isArray(answer.value) ? answer.value : [answer.value]) as readonly JsonObject[];
}
