import type { Node } from '../syntax/ast.ts';
import type { Checked } from '../types/checker.ts';
import type { Effects } from '../types/environment.ts';
import { CelError } from '../value/error.ts';
import type { Value } from '../value/value.ts';

/** What one evaluation may read and use. */
export interface CelScope {
  /** The value of a declared variable; undefined when nothing binds it. */
  lookup(name: string): Value | undefined;
  readonly effects: Effects;
}

/** The state of one evaluation. */
export interface Frame {
  readonly scope: CelScope;
  readonly effects: Effects;
  /** Variables of macros, by slot. */
  readonly locals: Value[];
}

/** A compiled node. Throws CelError, or what a data source throws. */
export type Closure = (frame: Frame) => Value;

/** What the nodes of one expression share while they are compiled. */
export interface CompileContext {
  readonly checked: Checked;
  /** The slots of the macro variables around the node, innermost last. */
  readonly scopes: { readonly name: string; readonly slot: number; readonly mayFail: boolean }[];
  slots: number;
  /** Variables that the expression reads. */
  readonly reads: Set<string>;
  /** Wraps each closure, to record what it gives. */
  readonly wrap?: ((node: Node, closure: Closure) => Closure) | undefined;
  /** Values of the closures that give the same value each time. */
  readonly constants: Map<Closure, Value>;
  /** Reports an error that constants make certain. */
  report(offset: number, message: string): void;
}

/** A closure that gives this value each time. */
export function constantClosure(value: Value, { constants }: CompileContext): Closure {
  const closure = (): Value => value;
  constants.set(closure, value);
  return closure;
}

/** The closure, or a constant when all its parts are. What it builds must not depend on the frame otherwise. */
export function foldParts(closure: Closure, parts: readonly Closure[], context: CompileContext): Closure {
  // Each part is recorded when it is evaluated.
  if (context.wrap !== undefined || !parts.every((part) => context.constants.has(part))) return closure;
  try {
    return constantClosure(closure(noFrame), context);
  } catch (error) {
    if (error instanceof CelError) return closure;
    throw error;
  }
}

const noEffects: Effects = { now: () => new Date(0), random: () => 0 };
export const noFrame: Frame = {
  scope: { lookup: () => undefined, effects: noEffects },
  locals: [],
  effects: noEffects,
};

/** Compiles with macro variables in scope; the callback gets their slots. */
export function withSlots<Result>(
  context: CompileContext,
  names: readonly string[],
  action: (slots: readonly number[]) => Result,
  mayFail = false,
): Result {
  const slots = names.map(() => context.slots++);
  names.forEach((name, index) => {
    context.scopes.push({ name, slot: slots[index] as number, mayFail });
  });
  const result = action(slots);
  context.scopes.length -= names.length;
  return result;
}
