import { findVariables, unescapeBraces, type VariableToken } from '../../expression/template/tokens.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import type { CelText, Scope } from '../types.ts';
import { listText, literal, type MapEntryText, mapText } from './cel-text.ts';
import { rootTranslation, translateSource } from './jmespath.ts';
import { definite, type Term } from './term.ts';
import { concatenate, isTotal, printed, refuse } from './translation.ts';

/** Translates JSON with `{{ }}` variables in keys and leaves. A string that is one variable keeps the type of its value. */
export function translateTemplate(value: Json, path: string, scope: Scope): CelText {
  return templateTerm(value, path, scope);
}

export function templateTerm(value: Json, path: string, scope: Scope): Term {
  if (typeof value === 'string') return templateText(value, path, scope);
  if (isArray(value)) {
    const items = value.map((item, index) => strict(templateTerm(item, `${path}[${index}]`, scope)));
    return definite(listText(items), { total: items.every(isTotal), constant: constantOf(value, items) });
  }
  if (!isObject(value)) return definite(literal(value, path), { constant: value });
  const entries = Object.entries(value).map(([key, item]): MapEntryText => {
    const at = `${path}.${key}`;
    return { key: templateKey(key, at, scope), value: strict(templateTerm(item, at, scope)) };
  });
  const parts = entries.flatMap((entry) => [entry.key, entry.value]);
  return definite(mapText(entries), { total: parts.every(isTotal), constant: constantOf(value, parts) });
}

/** A value without variables is its own constant. */
function constantOf(value: Json, parts: readonly Term[] | readonly CelText[]): Json | undefined {
  return parts.every((part) => 'constant' in part && part.constant !== undefined) ? value : undefined;
}

/** The result of a variable: a missing key is an error. */
function strict(term: Term): Term {
  return term.optional === undefined ? term : { ...term, optional: undefined };
}

function templateKey(key: string, path: string, scope: Scope): CelText {
  return templateText(key, path, scope);
}

function templateText(value: string, path: string, scope: Scope): Term {
  const tokens = value.includes('{{') ? findVariables(value) : [];
  const [only] = tokens;
  if (only === undefined) {
    const constant = unescapeBraces(value);
    return definite(literal(constant, path), { constant });
  }
  if (only.start === 0 && only.end === value.length) return variableTerm(only, path, scope);
  const parts: Term[] = [];
  let end = 0;
  const addLiteral = (part: string): void => {
    if (part !== '') parts.push(definite(literal(unescapeBraces(part), path)));
  };
  for (const token of tokens) {
    addLiteral(value.slice(end, token.start));
    parts.push(printed(variableTerm(token, path, scope), { path, scope }));
    end = token.end;
  }
  addLiteral(value.slice(end));
  return concatenate(parts);
}

/** One `{{ }}`. */
function variableTerm({ expression }: VariableToken, path: string, scope: Scope): Term {
  if (expression === '@') {
    const self = scope.lookup('@');
    if (self === undefined) return refuse({ path }, '{{@}} is used where it has no value');
    return definite(self, { total: self.total ?? false });
  }
  return expressionTerm(expression, path, scope);
}

/** An expression that may contain variables in quotes. They are resolved even if the expression does not read them. */
export function expressionTerm(source: string, path: string, scope: Scope, current?: Term): Term {
  const tokens = findVariables(source);
  const variables = tokens.map((token) => variableTerm(token, path, scope));
  const [first] = tokens;
  if (first !== undefined && first.start === 0 && first.end === source.length) {
    return refuse({ path }, 'the value of a variable is the expression to evaluate');
  }
  const translation = { ...rootTranslation(path, scope), variables, current };
  const ranges = tokens.map(({ start, end }) => ({ start, end }));
  if (!ranges.every(({ start }) => isQuoted(source, start))) {
    return refuse({ path }, 'a nested variable outside of quotes selects a part of the expression');
  }
  return translateSource(source, translation, ranges);
}

/** Whether a position is inside quotes. */
function isQuoted(source: string, position: number): boolean {
  let quote = '';
  for (let at = 0; at < position; at++) {
    const character = source.charAt(at);
    if (quote === '') {
      if (character === "'" || character === '"' || character === '`') quote = character;
    } else if (character === quote) quote = '';
    else if (character === '\\') at++;
  }
  return quote !== '';
}
