import { type Json, type JsonObject, member } from '../../json/value.ts';
import type { PathStep } from '../jmespath/ast.ts';
import type { Scope } from '../scope.ts';
import { bindText } from './binding.ts';
import { ANY_ROOT, type Closure, type ClosureContext } from './closure.ts';

/** A name that no object inherits, an index, or a computed name. */
type Step = string | number | ((scope: Scope) => string);

/** `a.b[0].c`, applied to the value of `head`, to the scope (at the root), or to the current value. */
export function compilePath(
  head: Closure | 'root' | 'current',
  steps: readonly PathStep[],
  context: ClosureContext,
): Closure {
  if (head === 'root') return compileRootPath(steps, context);
  const walk = compileWalk(steps, context);
  if (head === 'current') return walk;
  return (current, scope) => {
    const value = head(current, scope);
    return value === undefined ? undefined : walk(value, scope);
  };
}

/** Names that an object could inherit, and computed names, need a check at every read. */
function compileStep(step: PathStep, context: ClosureContext): Step {
  if (typeof step === 'object') return bindText(step, context);
  return typeof step === 'string' && step in Object.prototype ? () => step : step;
}

function compileRootPath([first, ...rest]: readonly PathStep[], context: ClosureContext): Closure {
  if (first === undefined) {
    context.roots.add(ANY_ROOT);
    return (_current, scope) => scope.snapshot();
  }
  // The root is an object: an index into it gives null.
  if (typeof first === 'number') return () => null;
  context.roots.add(typeof first === 'string' ? first : ANY_ROOT);
  const walk = compileWalk(rest, context);
  const named = typeof first === 'string' ? first : bindText(first, context);
  const { missing } = context;
  return (_current, scope) => {
    const name = typeof named === 'string' ? named : named(scope);
    const value = scope.lookup(name);
    if (value !== undefined) return walk(value, scope);
    missing.key = name;
    missing.image = undefined;
    return undefined;
  };
}

function compileWalk(path: readonly PathStep[], context: ClosureContext): Closure {
  if (path.length === 0) return (current) => current;
  const steps = path.map((step) => compileStep(step, context));
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
      const object = value as JsonObject;
      const found: Json | undefined = typeof step === 'string' ? object[step] : member(object, name);
      if (found === undefined) {
        missing.key = name;
        missing.image = name === 'tag' || name === 'digest' || name === 'registry' ? object : undefined;
        return undefined;
      }
      value = found;
    }
    return value;
  };
}
