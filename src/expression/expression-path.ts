import type { Json, JsonObject } from '../json/value.ts';
import { bindText } from './expression-binding.ts';
import { ANY_ROOT, type Closure, type ClosureContext } from './expression-closure.ts';
import { ownMember } from './expression-member.ts';
import type { PathStep } from './jmespath-ast.ts';
import type { Scope } from './scope.ts';

type StaticStep = string | number;
type Step = StaticStep | ((scope: Scope) => string);

/** `a.b[0].c`, applied to the value of `head`, to the scope (at the root), or to the current value. */
export function compilePath(
  head: Closure | 'root' | 'current',
  steps: readonly PathStep[],
  context: ClosureContext,
): Closure {
  const compiled = steps.map((step) => (typeof step === 'object' ? bindText(step, context) : step));
  if (head === 'root') return compileRootPath(compiled, context);
  const walk = compileWalk(compiled, context);
  if (head === 'current') return walk;
  return (current, scope) => {
    const value = head(current, scope);
    return value === undefined ? undefined : walk(value, scope);
  };
}

function compileRootPath([first, ...rest]: readonly Step[], context: ClosureContext): Closure {
  if (first === undefined) {
    context.roots.add(ANY_ROOT);
    return (_current, scope) => scope.snapshot();
  }
  // The root is an object: an index into it gives null.
  if (typeof first === 'number') return () => null;
  context.roots.add(typeof first === 'string' ? first : ANY_ROOT);
  const walk = compileWalk(rest, context);
  const { missing } = context;
  return (_current, scope) => {
    const name = typeof first === 'string' ? first : first(scope);
    const value = scope.lookup(name);
    if (value !== undefined) return walk(value, scope);
    missing.key = name;
    return undefined;
  };
}

function compileWalk(steps: readonly Step[], context: ClosureContext): Closure {
  if (steps.length === 0) return (current) => current;
  const { missing } = context;
  return (current, scope) => {
    let value: Json = current;
    for (const step of steps) {
      if (typeof value !== 'object' || value === null) return null;
      if (typeof step === 'number') {
        if (!Array.isArray(value)) return null;
        value = (value as readonly Json[])[step < 0 ? step + value.length : step] ?? null;
        continue;
      }
      if (Array.isArray(value)) return null;
      const name: string = typeof step === 'string' ? step : step(scope);
      const found: Json | undefined = ownMember(value as JsonObject, name);
      if (found === undefined) {
        missing.key = name;
        return undefined;
      }
      value = found;
    }
    return value;
  };
}
