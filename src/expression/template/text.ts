import { textOf } from '../compile/binding.ts';
import type { TemplatePiece } from './piece.ts';
import { findVariables, unescapeBraces } from './tokens.ts';
import { compileVariable, type TemplatePlace } from './variable.ts';

/**
 * One string. A text that is exactly one variable becomes its value, type and all; otherwise values are written into
 * the text, and are not searched for variables again.
 */
export function compileText(text: string, place: TemplatePlace, roots: Set<string>): TemplatePiece {
  const tokens = text.includes('{{') ? findVariables(text) : [];
  if (tokens.length === 0) return { value: unescapeBraces(text) };
  const variables = tokens.map((token) => compileVariable(token, place));
  for (const variable of variables) for (const root of variable.roots) roots.add(root);
  const [token] = tokens;
  const [only] = variables;
  if (only !== undefined && token?.start === 0 && token.end === text.length) return { render: only.evaluate };
  let end = 0;
  const literals = tokens.map((next) => {
    const literal = unescapeBraces(text.slice(end, next.start));
    end = next.end;
    return literal;
  });
  const tail = unescapeBraces(text.slice(end));
  return {
    render(scope) {
      let result = '';
      for (let index = 0; index < variables.length; index++) {
        result += literals[index];
        result += textOf(variables[index]?.evaluate(scope) ?? null);
      }
      return result + tail;
    },
  };
}
