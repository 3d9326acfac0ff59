import { spendSteps } from '../../json/budget.ts';
import { insertItem, mapItems, replaceItem, setMember } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonArray, member } from '../../json/value.ts';
import { FieldPathError, type FieldStep, type MatchStep } from './field-path.ts';
import { itemMatches } from './read.ts';
import { openStructured, type StructuredStyle } from './structured.ts';

export interface WriteOptions {
  /** Creates missing fields along the path. */
  readonly create: boolean;
  readonly structured: StructuredStyle;
  /** Computes the new value of a field from its current value. */
  readonly update: (current: Json | undefined, location: WriteLocation) => Json;
}

export interface WriteLocation {
  readonly steps: readonly FieldStep[];
  /** Inside a string that contains JSON or YAML. */
  readonly structured: boolean;
}

export interface WriteResult {
  /** The root itself (===) when nothing changed. */
  readonly value: Json;
  /** The number of fields that the path matched. */
  readonly hits: number;
}

interface Writing extends WriteOptions {
  readonly location: WriteLocation;
  hits: number;
}

/** Writes to every field that a path matches. Throws FieldPathError where the path does not fit the types of the object. */
export function writeField(root: Json, steps: readonly FieldStep[], options: WriteOptions): WriteResult {
  const writing: Writing = { ...options, location: { steps, structured: false }, hits: 0 };
  const value = write(root, 0, writing);
  return { value: value ?? root, hits: writing.hits };
}

/** Undefined when the field is absent and stays absent. */
function write(value: Json | undefined, at: number, writing: Writing): Json | undefined {
  spendSteps(2);
  const step = writing.location.steps[at];
  if (step === undefined) {
    writing.hits++;
    return writing.update(value, writing.location);
  }
  if (value === undefined || value === null) {
    if (!writing.create || step.type === 'every' || step.type === 'last') return value;
    return write(step.type === 'field' ? {} : [], at, writing);
  }
  if (typeof value === 'string') return writeStructured(value, at, writing);
  if (step.type === 'field') return writeMember(value, step.name, at, writing);
  if (!isArray(value))
    throw new FieldPathError(`${describe(step)} needs a list, but the value is a ${shapeOf(value)}`);
  switch (step.type) {
    case 'index':
      return writeIndex(value, step.index, at, writing);
    case 'last':
      return value.length === 0 ? value : writeIndex(value, value.length - 1, at, writing);
    case 'every':
      return writeWhere(value, () => true, at, writing);
    case 'match':
      return writeMatching(value, step, at, writing);
  }
}

function writeMember(value: Json, name: string, at: number, writing: Writing): Json {
  if (!isObject(value))
    throw new FieldPathError(`'${name}' needs a map, but the value is a ${shapeOf(value)}`);
  const inner = member(value, name);
  if (inner === undefined && !writing.create) return value;
  const written = write(inner, at + 1, writing);
  return written === undefined ? value : setMember(value, name, written);
}

function writeIndex(list: JsonArray, index: number, at: number, writing: Writing): Json {
  if (index > list.length || (index === list.length && !writing.create)) {
    throw new FieldPathError(`index ${index} specified but only ${list.length} elements found`);
  }
  const written = write(list[index], at + 1, writing);
  if (written === undefined) return list;
  return index === list.length ? insertItem(list, index, written) : replaceItem(list, index, written);
}

function writeWhere(
  list: JsonArray,
  chosen: (item: Json) => boolean,
  at: number,
  writing: Writing,
): JsonArray {
  return mapItems(list, (item) => (chosen(item) ? (write(item, at + 1, writing) ?? item) : item));
}

function writeMatching(list: JsonArray, step: MatchStep, at: number, writing: Writing): Json {
  // `[=value]` is the last step: the item itself is written.
  const next = step.key === '' ? writing.location.steps.length - 1 : at;
  if (list.some((item) => itemMatches(item, step))) {
    return writeWhere(list, (item) => itemMatches(item, step), next, writing);
  }
  if (!writing.create) return list;
  if (!step.literal)
    throw new FieldPathError(`no item matches ${describe(step)}, and a pattern cannot create one`);
  const item: Json = step.key === '' ? step.text : { [step.key]: step.text };
  return insertItem(list, list.length, write(item, next + 1, writing) ?? item);
}

function writeStructured(text: string, at: number, writing: Writing): Json {
  const opened = openStructured(text, writing.structured);
  if (opened === undefined)
    throw new FieldPathError(`the path continues below a string: ${describe(writing.location.steps[at])}`);
  const inner: Writing = {
    ...writing,
    location: { steps: writing.location.steps.slice(at), structured: true },
    hits: 0,
  };
  const written = write(opened.value, 0, inner);
  writing.hits += inner.hits;
  return written === undefined || written === opened.value ? text : opened.close(written);
}

function describe(step: FieldStep | undefined): string {
  switch (step?.type) {
    case 'field':
      return `'${step.name}'`;
    case 'index':
      return `index ${step.index}`;
    case 'match':
      return `'[${step.key}=${step.text}]'`;
    case 'last':
      return "'-'";
    default:
      return "'*'";
  }
}

function shapeOf(value: Json): string {
  if (isArray(value)) return 'list';
  return isObject(value) ? 'map' : typeof value;
}
