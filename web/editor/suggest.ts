import { schema } from 'virtual:reference';
import type { FunctionReference } from '../engine/functions.ts';
import { engine } from '../state/playground.ts';
import { anchors } from './reference.ts';
import { definitionOf, type Schema, schemasAt } from './schema.ts';
import { variablesAt } from './variables.ts';
import { placeAt, type YamlPlace } from './yaml-path.ts';

/** Empty until the worker answers. */
let functions: readonly FunctionReference[] = [];
void engine.run('functions', undefined).then((found) => {
  functions = found;
});

export interface Suggestion {
  readonly label: string;
  readonly kind: 'property' | 'enum' | 'function' | 'variable' | 'keyword';
  readonly detail?: string | undefined;
  readonly info: string;
  readonly example?: string | undefined;
  /** What to insert instead of the label. */
  readonly insert?: string | undefined;
}

export interface Suggestions {
  /** Characters before the cursor that the choice replaces. */
  readonly typed: number;
  readonly list: readonly Suggestion[];
}

/** What can be written at a position of a policy. `line` and `column` count from 0. */
export function suggestAt(lines: readonly string[], line: number, column: number): Suggestions {
  const place = placeAt(lines, line, column);
  if (place.expression !== undefined) return suggestExpression(place.expression, lines, line);
  const schemas = schemasOf(place, lines);
  const typed = place.word.length;
  if (!place.isKey) return { typed, list: schemas.flatMap(valuesOf) };
  const keys = schemas.flatMap(keysOf);
  return { typed, list: [...unique(keys), ...(isInPatch(place) ? anchors.map(anchorSuggestion) : [])] };
}

function schemasOf(place: YamlPlace, lines: readonly string[]): Schema[] {
  const end = lines.findIndex((text, index) => index > place.start && /^---(\s|$)/.test(text));
  const document = lines.slice(place.start, end < 0 ? undefined : end).join('\n');
  return schemasAt(schema, definitionOf(document) ?? 'policy', place.path);
}

function keysOf({ properties = {} }: Schema): Suggestion[] {
  return Object.entries(properties).map(([label, { description = '', type }]) => ({
    label,
    kind: 'property',
    detail: typeof type === 'string' ? type : undefined,
    info: description,
    insert: `${label}: `,
  }));
}

function valuesOf(of: Schema): Suggestion[] {
  const values = of.enum ?? (of.type === 'boolean' ? [true, false] : []);
  return values.map((value) => ({ label: String(value), kind: 'enum', info: of.description ?? '' }));
}

function unique(list: readonly Suggestion[]): Suggestion[] {
  return [...new Map(list.map((one) => [one.label, one])).values()];
}

const patchFields = ['patchStrategicMerge', 'overlay'];

function isInPatch({ path }: YamlPlace): boolean {
  return path.some((step) => patchFields.includes(step));
}

function anchorSuggestion({ form, text }: (typeof anchors)[number]): Suggestion {
  return { label: form, kind: 'keyword', detail: 'anchor', info: text, insert: form };
}

function suggestExpression(expression: string, lines: readonly string[], line: number): Suggestions {
  const word = /[\w.@]*$/.exec(expression)?.[0] ?? '';
  return {
    typed: word.length,
    list: [
      ...variablesAt(lines, line).map(
        ({ name, text }): Suggestion => ({ label: name, kind: 'variable', info: text }),
      ),
      ...functions.map(functionSuggestion),
    ],
  };
}

function functionSuggestion({ name, signature, description, example }: FunctionReference): Suggestion {
  return {
    label: name,
    kind: 'function',
    detail: signature.slice(name.length),
    info: description,
    example,
    insert: `${name}(`,
  };
}

/** What a word of a policy means: a function, an anchor, or a field. */
export function describeAt(lines: readonly string[], line: number, column: number): Suggestion | undefined {
  const text = lines[line] ?? '';
  const end = column + (/^[\w.-]*/.exec(text.slice(column))?.[0].length ?? 0);
  const word = /[\w.-]*$/.exec(text.slice(0, end))?.[0] ?? '';
  const place = placeAt(lines, line, end);
  if (place.expression !== undefined) {
    const found = functions.find(({ name }) => name === word);
    if (found !== undefined) return functionSuggestion(found);
    const root = variablesAt(lines, line).filter(({ name }) => word === name || word.startsWith(`${name}.`));
    const [variable] = root.toSorted((left, right) => right.name.length - left.name.length);
    return variable && { label: variable.name, kind: 'variable', info: variable.text };
  }
  if (isInPatch(place)) {
    const anchor = /(^|[\s-])([+<]?)\(/.exec(text);
    const form = anchor === null ? undefined : `${anchor[2]}(key)`;
    const found = anchors.find((one) => one.form === form);
    if (found !== undefined && place.isKey) return anchorSuggestion(found);
  }
  if (!place.isKey || word === '') return undefined;
  return unique(schemasOf(place, lines).flatMap(keysOf)).find(({ label }) => label === word);
}
