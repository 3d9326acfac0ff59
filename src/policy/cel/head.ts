import { readObject, readText, readTextMap } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledBlock, CompiledPolicy, CompiledRule, PolicyKind } from '../compiled.ts';
import type { CompiledCelProgram } from '../compiled-cel.ts';
import type { PolicySource } from '../problem-collector.ts';

/** What all CEL policies have. */
export function celPolicy(
  document: JsonObject,
  source: PolicySource,
  kind: PolicyKind,
  more: Pick<CompiledPolicy, 'rules' | 'timeoutSeconds'> &
    Partial<Pick<CompiledPolicy, 'namespace' | 'matchConditions'>>,
): CompiledPolicy {
  const metadata = readObject(document, 'metadata') ?? {};
  const spec = readObject(document, 'spec') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const { namespace, rules, timeoutSeconds, matchConditions = [] } = more;
  return {
    key: namespace === undefined ? name : `${namespace}/${name}`,
    kind,
    apiVersion: readText(document, 'apiVersion') ?? '',
    name,
    namespace,
    rules,
    generateRules: [],
    otherRules: [],
    applyRules: 'All',
    failurePolicy: readText(spec, 'failurePolicy') === 'Ignore' ? 'Ignore' : 'Fail',
    emitWarning: false,
    timeoutSeconds,
    matchConditions,
    annotations: readTextMap(metadata, 'annotations'),
    labels: readTextMap(metadata, 'labels'),
    source: { file: source.file, line: source.positionOf?.([]).line ?? 1 },
    document,
  };
}

export interface CelRuleOptions {
  readonly name: string;
  readonly autogenOf?: string | undefined;
  readonly blocks: readonly CompiledBlock[];
  readonly program: CompiledCelProgram;
  readonly document: JsonObject;
  readonly skipBackgroundRequests: boolean;
  /** Mutates existing objects: admission skips it. */
  readonly existingOnly: boolean;
}

/** The same fields in the same order as other rules, so that V8 uses one hidden class. */
export function celRule(options: CelRuleOptions): CompiledRule {
  return {
    name: options.name,
    autogenOf: options.autogenOf,
    path: [],
    document: options.document,
    match: { any: options.blocks },
    exclude: undefined,
    context: [],
    preconditions: undefined,
    mutation: { type: 'cel', program: options.program },
    surroundings: undefined,
    targets: options.existingOnly ? [] : undefined,
    mutateExistingOnPolicyUpdate: options.existingOnly,
    repeatable: true,
    skipBackgroundRequests: options.skipBackgroundRequests,
  };
}

/** The rule of a policy that has no rules of its own. */
export const mainRule = 'mutations';

/** The rule of a policy that also mutates existing objects. */
export const existingRule = 'mutate-existing';
