import { spendSize, spendText } from '../../json/budget.ts';
import { assignMember } from '../../json/edit.ts';
import { formatPointer } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { textOf } from '../compile/binding.ts';
import { EvaluationError, type Scope } from '../scope.ts';
import { findVariables, hasVariable, unescapeBraces } from './tokens.ts';
import { compileVariable, type TemplateLocation, type TemplateOptions } from './variable.ts';

export type { TemplateOptions } from './variable.ts';

/** JSON with `{{ }}` variables in keys and leaves, compiled when its policy was loaded. */
export interface CompiledTemplate {
  /** The template has no variables: every rendering gives the same value. */
  readonly constant: boolean;
  /** Root names that its variables read; `@` for any. */
  readonly roots: ReadonlySet<string>;
  /** Throws EvaluationError with the variable and its path. Renderings share all constant parts. */
  render(scope: Scope): Json;
}

/**
 * Compiles any JSON. Problems go to the reporter.
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

/** Whether any key or leaf contains a variable. */
export function usesVariables(value: Json): boolean {
  if (typeof value === 'string') return hasVariable(value);
  if (isArray(value)) return value.some(usesVariables);
  return (
    isObject(value) && Object.entries(value).some(([key, child]) => hasVariable(key) || usesVariables(child))
  );
}

function compilePiece(value: Json, location: TemplateLocation, roots: Set<string>): TemplatePiece {
  if (typeof value === 'string') return compileText(value, location, roots);
  if (isArray(value)) {
    return listPiece(
      value,
      value.map((item, index) => compilePiece(item, below(location, index), roots)),
    );
  }
  if (!isObject(value)) return { value };
  const members = Object.entries(value).map(([name, child]) => {
    const at = below(location, name);
    return { name, key: compileText(name, at, roots), value: compilePiece(child, at, roots) };
  });
  return objectPiece(value, members, location.path);
}

function below(location: TemplateLocation, step: string | number): TemplateLocation {
  return { ...location, path: [...location.path, step] };
}

/**
 * Compiles a string. A string that is exactly one variable becomes its value, including the type. Otherwise values are
 * inserted into the string and never parsed again.
 */
function compileText(text: string, location: TemplateLocation, roots: Set<string>): TemplatePiece {
  const tokens = text.includes('{{') ? findVariables(text) : [];
  if (tokens.length === 0) return { value: unescapeBraces(text) };
  const variables = tokens.map((token) => compileVariable(token, location));
  for (const variable of variables) for (const root of variable.roots) roots.add(root);
  const [token] = tokens;
  const [only] = variables;
  if (only !== undefined && token?.start === 0 && token.end === text.length) {
    return {
      render(scope) {
        const value = only.evaluate(scope);
        if (typeof value === 'object') spendSize(value);
        return value;
      },
    };
  }
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
        const value = textOf(variables[index]?.evaluate(scope) ?? null);
        spendText(value.length);
        result += literals[index] + value;
      }
      return result + tail;
    },
  };
}

/** A part of a template: constant, or rendered for every request. */
type TemplatePiece =
  | { readonly value: Json; readonly render?: undefined }
  | { readonly render: (scope: Scope) => Json };

/** A list. Renderings share constant items. */
function listPiece(list: readonly Json[], pieces: readonly TemplatePiece[]): TemplatePiece {
  const base = pieces.map((piece) => (piece.render === undefined ? piece.value : null));
  const dynamic = pieces.flatMap((piece, index) =>
    piece.render === undefined ? [] : [{ index, render: piece.render }],
  );
  if (dynamic.length === 0) return { value: base.every((item, index) => item === list[index]) ? list : base };
  return {
    render(scope) {
      const result = base.slice();
      for (const { index, render } of dynamic) result[index] = render(scope);
      return result;
    },
  };
}

interface TemplateMember {
  /** As written. */
  readonly name: string;
  readonly key: TemplatePiece;
  readonly value: TemplatePiece;
}

/** An object. Renderings share constant members, and members keep their order. */
function objectPiece(object: JsonObject, members: readonly TemplateMember[], path: Path): TemplatePiece {
  if (members.some(({ key }) => key.render !== undefined)) {
    return { render: (scope) => renderMembers(members, scope, path) };
  }
  const base: Record<string, Json> = {};
  const dynamic: { readonly name: string; readonly render: (scope: Scope) => Json }[] = [];
  let changed = false;
  for (const { name, key, value } of members) {
    const newName = keyText(name, key, undefined, path);
    assignMember(base, newName, value.render === undefined ? value.value : null);
    if (value.render !== undefined) dynamic.push({ name: newName, render: value.render });
    else changed ||= newName !== name || value.value !== object[name];
  }
  if (dynamic.length === 0) return { value: changed ? base : object };
  return {
    render(scope) {
      const result = { ...base };
      for (const { name, render } of dynamic) assignMember(result, name, render(scope));
      return result;
    },
  };
}

function renderMembers(members: readonly TemplateMember[], scope: Scope, path: Path): JsonObject {
  const result: Record<string, Json> = {};
  for (const { name, key, value } of members) {
    assignMember(
      result,
      keyText(name, key, scope, path),
      value.render === undefined ? value.value : value.render(scope),
    );
  }
  return result;
}

function keyText(name: string, key: TemplatePiece, scope: Scope | undefined, path: Path): string {
  const text = key.render === undefined ? key.value : scope && key.render(scope);
  if (typeof text === 'string') return text;
  const message = `expected string after substituting variables in key ${JSON.stringify(name)} at path ${formatPointer(path)}`;
  throw new EvaluationError('KYM_EXPRESSION_FAILED', message);
}
