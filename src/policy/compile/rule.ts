import { resolveReferences } from '../../expression/template/reference.ts';
import { type CompiledTemplate, compileTemplate } from '../../expression/template/template.ts';
import { read, readBoolean, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { adviseOn } from '../check/advice.ts';
import { checkIdentity } from '../check/identity.ts';
import { checkMatch } from '../check/match.ts';
import { checkMutate } from '../check/mutate.ts';
import { adviseOnReconcile, changingCalls } from '../check/repeatable.ts';
import { outermostScope, type VariableScope } from '../check/variable-scope.ts';
import type { CompiledMutation, CompiledRule } from '../compiled.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { watchErrors } from '../problem-collector.ts';
import { versionsWithFlatForms } from '../schema/schema.ts';
import { compileCheckedConditions } from './conditions.ts';
import { compileContext } from './context.ts';
import { compileFilter } from './match.ts';
import { compileMutation } from './mutation.ts';
import { compileTargets } from './target.ts';

export interface RuleOptions {
  /** Paths are relative to the rule. */
  readonly reporter: Reporter;
  readonly facts: PolicyFacts;
  /** Path of the author's rule in the policy document. */
  readonly path: Path;
  readonly autogenOf?: string | undefined;
  /** Compiles `mutate`; v1alpha1 has other patch forms. */
  readonly mutation?:
    | ((mutate: JsonObject, path: Path, reporter: Reporter) => CompiledMutation | undefined)
    | undefined;
}

/** Compiles a mutate rule that passed the schema check. Reports all problems; undefined when one of them is an error. */
export function compileRule(written: JsonObject, options: RuleOptions): CompiledRule | undefined {
  const reporter = watchErrors(options.reporter);
  const { facts } = options;
  checkMatch(written, facts, reporter);
  checkMutate(written, facts, reporter);
  adviseOn(written, facts, reporter);
  adviseOnReconcile(written, reporter);
  const match = compileFilter(readObject(written, 'match') ?? {}, ['match'], reporter);
  checkIdentity(written, match, facts, reporter);

  const rule = withReferences(written, reporter);
  const mutate = readObject(rule, 'mutate') ?? {};
  const exclude = compileFilter(readObject(rule, 'exclude') ?? {}, ['exclude'], reporter);
  const context = compileContext(readObjects(rule, 'context'), ['context'], reporter, facts, outermostScope);
  const mutatesExisting = read(mutate, 'targets') !== undefined;
  const targets = compileTargets(
    readObjects(mutate, 'targets'),
    ['mutate', 'targets'],
    reporter,
    facts,
    context.scope,
  );
  const scope: VariableScope = mutatesExisting ? targets.scope : context.scope;
  const hasFlatForms = versionsWithFlatForms.includes(facts.apiVersion);
  const preconditions = compileCheckedConditions(
    read(rule, 'preconditions'),
    ['preconditions'],
    reporter,
    context.scope,
    { legacyList: hasFlatForms, legacyOperators: hasFlatForms },
  );
  const object = mutatesExisting ? 'target' : 'request.object';
  const mutation =
    options.mutation === undefined
      ? compileMutation(mutate, ['mutate'], scope, { reporter, facts, object })
      : options.mutation(mutate, ['mutate'], reporter);
  if (reporter.failed || match === undefined || mutation === undefined) return undefined;
  // All rules have the same fields in the same order, so that V8 uses one hidden class.
  return {
    name: readText(written, 'name') ?? '',
    autogenOf: options.autogenOf,
    path: options.path,
    document: written,
    match,
    exclude,
    context: context.entries,
    preconditions,
    mutation,
    surroundings: mutation.type === 'patch' ? surroundingsOf(rule) : undefined,
    targets: mutatesExisting ? targets.targets : undefined,
    mutateExistingOnPolicyUpdate:
      readBoolean(mutate, 'mutateExistingOnPolicyUpdate') ?? facts.mutateExistingOnPolicyUpdate,
    repeatable: !mutatesExisting || changingCalls(rule).length === 0,
    skipBackgroundRequests: readBoolean(rule, 'skipBackgroundRequests') ?? true,
  };
}

const silent: Reporter = { error: () => {}, warn: () => {} };

/** Undefined without variables. Their problems were reported when they were compiled. */
function surroundingsOf(rule: JsonObject): CompiledTemplate | undefined {
  const parts: Json = {
    context: read(rule, 'context') ?? null,
    preconditions: read(rule, 'preconditions') ?? null,
  };
  const template = compileTemplate(parts, [], silent);
  return template.constant ? undefined : template;
}

/** Outside loops, absolute `$(/…)` references start at the rule; a loop resolves its own. */
function withReferences(rule: JsonObject, reporter: Reporter): JsonObject {
  if (readList(readObject(rule, 'mutate') ?? {}, 'foreach').length > 0) return rule;
  const resolved = resolveReferences(rule, [], reporter);
  return isObject(resolved) ? resolved : rule;
}

export type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** Omits absent fields. */
export function optional<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Present<Fields>;
}
