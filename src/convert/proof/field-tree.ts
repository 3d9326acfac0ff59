import { exampleText, exampleValue } from '../../analysis/interplay/example-value.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isNumber, isObject, type Json, type Path } from '../../json/value.ts';

/** A field that a policy reads or writes, with the values that the policy mentions for it. */
export interface Field {
  readonly members: Map<string, Field>;
  /** The field of all items, if the value is a list. */
  item: Field | undefined;
  /** By their JSON. */
  readonly values: Map<string, Json>;
}

/** Enough for policies that people write; a larger policy is explored in part. */
const maximumFields = 400;
const maximumValues = 40;

/** The fields of objects that decide what policies do. */
export class FieldTree {
  readonly root: Field = emptyField();
  #size = 0;

  /** Adds a field. A number in the path stands for all items of a list. */
  add(path: Path): Field | undefined {
    let field = this.root;
    for (const token of path) {
      const known = typeof token === 'number' ? field.item : field.members.get(token);
      if (known === undefined && ++this.#size > maximumFields) return undefined;
      const next = known ?? emptyField();
      if (typeof token === 'number') field.item = next;
      else field.members.set(token, next);
      field = next;
    }
    return field;
  }

  /** Adds a field and a value that it may have, with the fields of the value. */
  addValue(path: Path, value: Json): void {
    const field = this.add(path);
    if (field === undefined) return;
    if (isArray(value)) for (const item of value) this.addValue([...path, 0], item);
    else if (isObject(value))
      for (const [key, inner] of Object.entries(value)) this.addValue([...path, key], inner);
    else for (const near of neighbours(value)) keepValue(field, near);
    if (isArray(value) || isObject(value)) keepValue(field, value);
  }
}

function emptyField(): Field {
  return { members: new Map(), item: undefined, values: new Map() };
}

function keepValue(field: Field, value: Json): void {
  if (field.values.size < maximumValues) field.values.set(stringifyJson(value), value);
}

/** The value, and values for which a comparison with it has another result. */
function neighbours(value: Json): readonly Json[] {
  if (isNumber(value)) {
    const number = Number(value);
    return [value, number + 1, number - 1, String(value)];
  }
  if (typeof value === 'boolean') return [value, !value];
  if (typeof value !== 'string') return [value];
  const texts = value
    .split(/[|&]/)
    .map((term) => term.trim())
    .flatMap((term) => [exampleValue(term), ...wildcardNeighbours(term), ...boundaries(term)]);
  return [value, ...texts];
}

function wildcardNeighbours(term: string): readonly string[] {
  const text = exampleText(term);
  return /[*?]/.test(term)
    ? [
        ...shortened(term.replaceAll(/[*?]/g, '')),
        `${text}z`,
        `z${text}`,
        `z${term.replaceAll(/[*?]/g, 'y')}z`,
      ]
    : [`${text}x`, ...shortened(text), text.toUpperCase()];
}

function shortened(text: string): readonly string[] {
  return [text, text.slice(1), text.slice(0, -1)];
}

/** Both sides of each number in a range or comparison, such as `>= 10Mi` and `1-5`. */
function boundaries(term: string): readonly Json[] {
  return [...term.matchAll(/(\d+)([a-zA-Z]*)/g)].slice(0, 4).flatMap(([, digits = '', unit = '']) => {
    const number = Number(digits);
    return unit === ''
      ? [number, number + 1, number - 1, `${number}`]
      : [`${digits}${unit}`, `${number + 1}${unit}`, `${number - 1}${unit}`];
  });
}
