import type { Token } from './lexer.ts';

/** How tightly a token binds to what stands on its left; 0 for those that do not. */
export const bindingPower: Readonly<Partial<Record<Token['type'], number>>> = {
  '|': 1,
  '||': 2,
  '&&': 3,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '[]': 9,
  '*': 20,
  '[?': 21,
  '.': 40,
  '!': 45,
  '{': 50,
  '[': 55,
  '(': 60,
};
export const STAR = 20;
export const FILTER = 21;
export const DOT = 40;
export const NOT = 45;
export const FLATTEN = 9;
/** What binds weaker than this ends a projection. */
export const PROJECTION_END = 10;
