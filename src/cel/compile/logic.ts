import { CelError, noSuchOverload } from '../value/error.ts';
import type { Closure } from './closure.ts';

/** `&&` is decided by a false operand, `||` by a true one; errors count only if nothing decides. */
export function compileLogic(operator: '&&' | '||', operands: readonly Closure[], offset: number): Closure {
  const decisive = operator === '||';
  return (frame) => {
    let failure: unknown;
    for (let index = 0; index < operands.length; index++) {
      try {
        const value = (operands[index] as Closure)(frame);
        if (value === decisive) return decisive;
        if (value !== !decisive) failure ??= noSuchOverload([value], offset);
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

export function compileConditional(condition: Closure, yes: Closure, no: Closure, offset: number): Closure {
  return (frame) => {
    const value = condition(frame);
    if (value === true) return yes(frame);
    if (value === false) return no(frame);
    throw noSuchOverload([value], offset);
  };
}
