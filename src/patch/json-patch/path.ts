import type { Scope } from '../../expression/scope.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { PointerSyntaxError, parsePointer } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import type { PatchTemplate } from './node.ts';
import { compileAsText, isConstant, type PatchLocation } from './render.ts';

/** Split at load, unless it contains variables. */
export type CompiledPath =
  | { readonly tokens: readonly string[]; readonly render?: undefined }
  | { readonly tokens?: undefined; readonly render: (scope: Scope) => readonly string[] };

/** Throws PointerSyntaxError at load for a path without variables, otherwise when it is rendered. */
export function compilePathTemplate(template: PatchTemplate, location: PatchLocation): CompiledPath {
  const whole = compileAsText(template, location);
  if (isConstant(whole)) return { tokens: splitPath(String(whole.value)) };
  const steps = compileSteps(template, location);
  const renderWhole = (scope: Scope) => splitPath(String(whole.render(scope)));
  return {
    render: steps === undefined ? renderWhole : (scope) => renderSteps(steps, scope) ?? renderWhole(scope),
  };
}

export function splitPath(text: string): readonly string[] {
  return checkLength(parsePointer(text, { lenient: true }));
}

/** `add` creates every step of its path: without a limit, a variable could create an object that is too deep to serialize. */
export function checkLength(tokens: readonly string[]): readonly string[] {
  if (tokens.length <= longestPath) return tokens;
  throw new PointerSyntaxError(`a path can have at most ${longestPath} steps`);
}

const longestPath = 250;

/** The steps of a path, where those with variables are rendered for each request. */
interface PathSteps {
  /** With empty strings for the steps with variables. */
  readonly constant: readonly string[];
  readonly variable: readonly { readonly place: number; readonly render: (scope: Scope) => Json }[];
}

/** Splits at load, so that only steps with variables are rendered for each request. */
function compileSteps(template: PatchTemplate, location: PatchLocation): PathSteps | undefined {
  const [first, ...texts] = splitOutsideVariables(template.text);
  if (first !== '' || texts.length > longestPath || template.text.includes('~')) return undefined;
  const steps = texts.map((text) => compileAsText({ ...template, text }, location));
  return {
    constant: steps.map((step) => (isConstant(step) ? String(step.value) : '')),
    variable: steps.flatMap((step, place) => (isConstant(step) ? [] : [{ place, render: step.render }])),
  };
}

function splitOutsideVariables(text: string): string[] {
  const steps: string[] = [];
  let start = 0;
  const variables = findVariables(text);
  for (let slash = text.indexOf('/'); slash >= 0; slash = text.indexOf('/', slash + 1)) {
    if (variables.some((variable) => variable.start < slash && slash < variable.end)) continue;
    steps.push(text.slice(start, slash));
    start = slash + 1;
  }
  return [...steps, text.slice(start)];
}

/** Undefined when a value contains a slash or a tilde: then the whole path must be parsed. */
function renderSteps({ constant, variable }: PathSteps, scope: Scope): readonly string[] | undefined {
  const tokens = constant.slice();
  for (const { place, render } of variable) {
    const token = String(render(scope));
    if (token.includes('/') || token.includes('~')) return undefined;
    tokens[place] = token;
  }
  return tokens;
}
