import { isArray, isObject, type Json, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { Scope } from '../scope.ts';
import { objectPiece } from './object.ts';
import { listPiece, type TemplatePiece } from './piece.ts';
import { compileText } from './text.ts';
import { hasVariable } from './tokens.ts';
import type { TemplateOptions, TemplatePlace } from './variable.ts';

export type { TemplateOptions } from './variable.ts';

/** JSON with `{{ }}` variables in keys and leaves, ready to be rendered for any number of requests. */
export interface CompiledTemplate {
  /** Without variables: rendering gives the same value every time. */
  readonly constant: boolean;
  /** Root names its variables read; `@` when they may read any. */
  readonly roots: ReadonlySet<string>;
  /** Throws EvaluationError, which names the variable and its place. What has no variables in it is shared. */
  render(scope: Scope): Json;
}

/**
 * Compiles any JSON; problems go to the reporter.
 * @example compileTemplate({ name: 'x-{{ request.name }}' }, path, reporter).render(scope)
 */
export function compileTemplate(
  value: Json,
  path: Path,
  reporter: Reporter,
  options: TemplateOptions = {},
): CompiledTemplate {
  const roots = new Set<string>();
  const piece = compilePiece(value, { path, reporter, options }, roots);
  if (piece.render !== undefined) return { constant: false, roots, render: piece.render };
  const constant = piece.value;
  return { constant: true, roots, render: () => constant };
}

/** The same for one string. */
export function compileTemplateText(
  text: string,
  path: Path,
  reporter: Reporter,
  options: TemplateOptions = {},
): CompiledTemplate {
  return compileTemplate(text, path, reporter, options);
}

/** Whether any key or leaf holds a variable. */
export function usesVariables(value: Json): boolean {
  if (typeof value === 'string') return hasVariable(value);
  if (isArray(value)) return value.some(usesVariables);
  return (
    isObject(value) && Object.entries(value).some(([key, child]) => hasVariable(key) || usesVariables(child))
  );
}

function compilePiece(value: Json, place: TemplatePlace, roots: Set<string>): TemplatePiece {
  if (typeof value === 'string') return compileText(value, place, roots);
  if (isArray(value)) {
    return listPiece(
      value,
      value.map((item, index) => compilePiece(item, below(place, index), roots)),
    );
  }
  if (!isObject(value)) return { value };
  const members = Object.entries(value).map(([name, child]) => {
    const at = below(place, name);
    return { name, key: compileText(name, at, roots), value: compilePiece(child, at, roots) };
  });
  return objectPiece(value, members, place.path);
}

function below(place: TemplatePlace, step: string | number): TemplatePlace {
  return { ...place, path: [...place.path, step] };
}
