import { stringifyJson } from '../json/json-text.ts';
import { read, readList, readObject, readObjects, readText, readTexts } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import { matchKinds } from '../policy/check/match-blocks.ts';
import type { Exemption } from './exceptions.ts';
import { translateConditions } from './expression/conditions.ts';
import { translateContext } from './expression/context.ts';
import { translateMatch } from './match/match.ts';
import { declaredBy, schemasOf } from './mutation/kinds.ts';
import { type Mutation, translateMutations } from './mutation/mutate.ts';
import { createScope, type Variables } from './scope.ts';
import { type ConvertedTargets, translateTarget } from './targets.ts';
import { type CelText, type ConversionTarget, NotConvertible } from './types.ts';

/** A rule of the old policy, or one that autogen makes of it. */
export interface SourceRule {
  readonly document: JsonObject;
  readonly name: string;
  /** Field path of the rule in the old policy. */
  readonly path: string;
  /** A rule for existing objects also runs when the policy changes. */
  readonly onPolicyUpdate: boolean;
}

export interface ConvertedRule {
  readonly rule: SourceRule;
  readonly matchConstraints: JsonObject;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly preconditions?: CelText | undefined;
  readonly mutations: readonly Mutation[];
  /** Set for a rule for existing objects. */
  readonly targets?: Pick<ConvertedTargets, 'constraints' | 'conditions'> | undefined;
  /** The exceptions from the rule. */
  readonly exemption?: Exemption | undefined;
}

/** Translates one rule. Its variables go to `variables`. Throws NotConvertible. */
export function convertRule(rule: SourceRule, to: ConversionTarget, variables: Variables): ConvertedRule {
  const { document, path } = rule;
  refuseOtherTypes(rule);
  const mutate = readObject(document, 'mutate') ?? {};
  const [target] = readObjects(mutate, 'targets');
  const triggers = schemasOf(matchKinds(document));
  // Only in the patch is the object the target and not the trigger.
  const outer = createScope(
    to,
    variables,
    target === undefined ? 'object' : 'request.object',
    declaredBy(triggers),
  );
  const { matchConstraints, matchConditions } = translateMatch(document, path, outer);
  const context = readList(document, 'context');
  const scope = context.length === 0 ? outer : translateContext(context, `${path}.context`, outer);
  const written = read(document, 'preconditions');
  const preconditions =
    written === undefined ? undefined : translateConditions(written, `${path}.preconditions`, scope);
  const next = (): void => variables.startMutation();
  const converted = { rule, matchConstraints, matchConditions, preconditions };
  if (target === undefined) {
    return { ...converted, mutations: translateMutations(mutate, `${path}.mutate`, scope, triggers, next) };
  }
  if (to === 'map')
    throw new NotConvertible(
      `${path}.mutate.targets`,
      'a MutatingAdmissionPolicy changes only the object of the request',
    );
  const kinds = schemasOf([`${readText(target, 'apiVersion') ?? ''}/${readText(target, 'kind') ?? ''}`]);
  const { targets: _targets, ...patch } = mutate;
  const readsTrigger = stringifyJson([patch, target]).includes('request.') || context.length > 0;
  const targets = translateTarget(target, `${path}.mutate.targets`, scope, {
    schema: declaredBy(kinds),
    readsTrigger,
    onPolicyUpdate: rule.onPolicyUpdate,
  });
  return {
    ...converted,
    targets,
    mutations: translateMutations(mutate, `${path}.mutate`, targets.scope, kinds, next),
  };
}

/** Plural names of the resources that the rule matches. */
export function resourcesOf({ matchConstraints }: ConvertedRule): readonly string[] {
  return readObjects(matchConstraints, 'resourceRules').flatMap((each) => readTexts(each, 'resources'));
}

function refuseOtherTypes({ document, path }: SourceRule): void {
  for (const type of ['validate', 'generate', 'verifyImages']) {
    if (read(document, type) !== undefined) {
      throw new NotConvertible(`${path}.${type}`, 'only mutate rules become a MutatingPolicy');
    }
  }
  if (readList(document, 'celPreconditions').length > 0) {
    throw new NotConvertible(`${path}.celPreconditions`, 'CEL preconditions are not converted');
  }
  if (readText(document, 'name') === undefined) throw new NotConvertible(path, 'the rule has no name');
}
