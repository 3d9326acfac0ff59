import { type Scope, Suspend } from '../expression/scope.ts';
import { Draft } from '../json/draft.ts';
import { metadataOf } from '../json/metadata.ts';
import type { JsonObject, Path } from '../json/value.ts';
import { type AnchorMiss, PatchError } from '../patch/compiled-patch.ts';
import type { CompiledRule } from '../policy/compiled.ts';
import {
  type ContextSettings,
  type LoadedEntries,
  loadedEntriesFor,
  withContext,
} from './context/context.ts';
import { ValuesLayer } from './context/scope-layers.ts';
import { runForeach } from './foreach.ts';
import type { ElementOutcome, Failure, SkipReason } from './outcome.ts';
import { runReplacements } from './replacements.ts';
import { failureOf, stageError } from './stage.ts';

/** The effect of a matching rule on the object. */
export type RuleEffect =
  | (MutationEffect<'applied'> & { readonly object: JsonObject })
  | MutationEffect<'unchanged'>
  | { readonly status: 'skipped'; readonly reason: SkipReason }
  | {
      readonly status: 'failed';
      readonly failure: Failure;
      /** Changes that stay all the same, by the rules of a MutatingAdmissionPolicy. */
      readonly kept?: JsonObject | undefined;
    };

interface MutationEffect<Status> {
  readonly status: Status;
  readonly misses: readonly AnchorMiss[];
  readonly elements?: readonly ElementOutcome[] | undefined;
  /** Audit annotations of a CEL policy. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Of a CEL policy. */
  readonly warnings?: readonly string[] | undefined;
}

export interface RuleSetting {
  readonly context: ContextSettings;
  /** The scope in which `request.object` (or `target`) is the given object. */
  readonly scopeFor: (object: JsonObject) => Scope;
  /** Whether to record the outcome of each foreach element. */
  readonly explain: boolean;
  /** Called after the preconditions. Returns the exceptions that apply to this rule. */
  readonly exceptions: () => readonly string[];
}

const preconditionsPath: Path = ['preconditions'];
const mutatePath: Path = ['mutate'];

/** context ▸ preconditions ▸ exceptions ▸ mutate. Throws only Suspend. */
export function runRule(rule: CompiledRule, object: JsonObject, setting: RuleSetting): RuleEffect {
  try {
    return runStages(rule, object, setting);
  } catch (error) {
    if (error instanceof Suspend) throw error;
    return { status: 'failed', failure: failureOf(error, 'patch', mutatePath) };
  }
}

function runStages(rule: CompiledRule, object: JsonObject, setting: RuleSetting): RuleEffect {
  const loaded = loadedEntriesFor(rule.context);
  const scope = scopeOf(rule, object, setting, loaded);
  // One handler for all stages: closures per stage would cost more than most stages do.
  let stage: Failure['stage'] = 'preconditions';
  let path = preconditionsPath;
  try {
    const verdict = rule.preconditions?.evaluate(scope);
    if (verdict?.passed === false) {
      return { status: 'skipped', reason: { type: 'preconditions', conditions: verdict.evaluated } };
    }

    stage = 'patch';
    path = mutatePath;
    const exceptions = setting.exceptions();
    if (exceptions.length > 0) return { status: 'skipped', reason: { type: 'exception', exceptions } };

    rule.surroundings?.render(scope);
    if (rule.mutation.type === 'patch') path = rule.mutation.patch.path;
    const effect = mutate(rule, object, scope, setting, loaded);
    stage = 'identity';
    path = mutatePath;
    if (effect.status === 'applied') assertSameIdentity(object, effect.object);
    return effect;
  } catch (error) {
    throw stageError(error, stage, path);
  }
}

function scopeOf(
  rule: CompiledRule,
  object: JsonObject,
  { context, scopeFor }: RuleSetting,
  loaded: LoadedEntries,
): Scope {
  const base = scopeFor(object);
  const bound = context.bindings === undefined ? base : new ValuesLayer(base, context.bindings);
  return withContext(bound, rule.context, context, loaded);
}

function mutate(
  rule: CompiledRule,
  object: JsonObject,
  scope: Scope,
  setting: RuleSetting,
  loaded: LoadedEntries,
): RuleEffect {
  const { mutation } = rule;
  switch (mutation.type) {
    case 'patch': {
      const result = mutation.patch.apply(object, scope);
      if (result.status === 'skipped') {
        return { status: 'skipped', reason: { type: 'anchor', misses: result.misses } };
      }
      return effectOf(object, result.object, result.misses);
    }
    case 'foreach': {
      const { context, explain } = setting;
      const elements: ElementOutcome[] | undefined = explain ? [] : undefined;
      const misses: AnchorMiss[] = [];
      const draft = explain ? undefined : new Draft();
      const after = runForeach(mutation.entries, object, {
        context,
        scopeFor(current) {
          draft?.release();
          return scopeOf(rule, current, setting, loaded);
        },
        draft,
        elements,
        misses,
        outerIndex: [],
      });
      return {
        status: after === object ? 'unchanged' : 'applied',
        object: after,
        misses,
        elements,
      };
    }
    case 'cel':
      throw new Error('CEL policies are run by runCelRule');
    case 'replacements': {
      const after = runReplacements(mutation.replacements, object, scope, setting.context);
      return effectOf(object, after, []);
    }
  }
}

function effectOf(
  before: JsonObject,
  after: JsonObject,
  misses: readonly AnchorMiss[],
): Extract<RuleEffect, { status: 'applied' | 'unchanged' }> {
  return { status: before === after ? 'unchanged' : 'applied', object: after, misses };
}

/** Kubernetes rejects changes to these fields. A rule that changes one fails here, before the API server sees it. */
export function assertSameIdentity(before: JsonObject, after: JsonObject, mayRename = false): void {
  if (before === after) return;
  if (before.apiVersion !== after.apiVersion) fail(['apiVersion']);
  if (before.kind !== after.kind) fail(['kind']);
  const old = metadataOf(before);
  const current = metadataOf(after);
  if (old === current) return;
  if (!mayRename && old.name !== current.name) fail(['metadata', 'name']);
  if (old.namespace !== current.namespace) fail(['metadata', 'namespace']);
  if (old.uid !== current.uid) fail(['metadata', 'uid']);
}

function fail(path: Path): never {
  throw new PatchError(
    'KYM_IDENTITY_CHANGED',
    path,
    `the rule changes ${path.join('.')}, which Kubernetes does not allow`,
  );
}
