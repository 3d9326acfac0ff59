import type { CompiledBlock, CompiledRule, Operation } from '../compiled.ts';
import { type KindKey, matchesKind } from '../kind-selector.ts';

/** A resource and what happens to it. */
export interface KindAndOperation extends KindKey {
  readonly operation: Operation;
}

/** Whether a rule can apply by kind and operation alone. */
export function couldApply(rule: CompiledRule, key: KindAndOperation): boolean {
  const { any, all = [] } = rule.match;
  if (any !== undefined) return any.some((block) => fits(block, key) && runsOn(key.operation, [block], rule));
  return all.length > 0 && all.every((block) => fits(block, key)) && runsOn(key.operation, all, rule);
}

/** Whether the match block of a rule needs nothing but the kind and operation, and these fit. */
export function matchesAll({ match: { any, all = [] } }: CompiledRule, key: KindAndOperation): boolean {
  const decides = (block: CompiledBlock) => restrictsOnlyKind(block) && fits(block, key);
  return any === undefined ? all.length > 0 && all.every(decides) : any.some(decides);
}

export function fits({ operations, kinds }: CompiledBlock, key: KindAndOperation): boolean {
  return (
    (operations === undefined || operations.has(key.operation)) &&
    (kinds === undefined || kinds.some((kind) => matchesKind(kind, key)))
  );
}

function restrictsOnlyKind({ path: _, operations, kinds, ...others }: CompiledBlock): boolean {
  if (operations === undefined && kinds === undefined) return false;
  return Object.values(others).every((clause) => clause === undefined);
}

/**
 * Without a list, rules run on CREATE and UPDATE. On DELETE there is nothing to mutate, so only rules for existing objects
 * run, and those of MutatingPolicies, which see an empty object; and only when they list it. Rules for existing objects run on CONNECT by default, other rules only when they list it.
 */
function runsOn(operation: Operation, blocks: readonly CompiledBlock[], rule: CompiledRule): boolean {
  if (operation === 'CREATE' || operation === 'UPDATE') return true;
  const mutatesExisting = rule.targets !== undefined;
  if (operation === 'CONNECT' && mutatesExisting) return true;
  if (operation === 'DELETE' && !mutatesExisting && !runsWithoutObject(rule)) return false;
  return blocks.some((block) => block.operations?.has(operation) ?? false);
}

function runsWithoutObject({ mutation }: CompiledRule): boolean {
  return mutation.type === 'cel' && mutation.program.admission === undefined;
}
