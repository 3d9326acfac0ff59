import type { JsonObject } from '../json/value.ts';
import { FieldPathError } from './field-path.ts';

/** Tests labels or annotations. */
export type LabelTest = (labels: JsonObject) => boolean;

const equality = /^([^\s!=(),]+)\s*(==|=|!=)\s*([^\s!=(),]*)$/;
const membership = /^([^\s!=(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const existence = /^(!?)\s*([^\s!=(),]+)$/;

/**
 * Label selectors in Kubernetes' text form: `a=b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a`, `!a`, joined by commas.
 * Throws FieldPathError for anything else.
 */
export function parseLabelSelector(text: string): LabelTest {
  const tests = splitRequirements(text).map(parseRequirement);
  return (labels) => tests.every((test) => test(labels));
}

/** Commas inside parentheses separate values, not requirements. */
function splitRequirements(text: string): readonly string[] {
  const trimmed = text.trim();
  return trimmed === '' ? [] : trimmed.split(/,(?![^(]*\))/).map((part) => part.trim());
}

function parseRequirement(text: string): LabelTest {
  const pair = equality.exec(text);
  if (pair !== null) return oneOf(pair[1] ?? '', [pair[3] ?? ''], pair[2] !== '!=');
  const set = membership.exec(text);
  if (set !== null) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return oneOf(set[1] ?? '', values, set[2] === 'in');
  }
  const key = existence.exec(text);
  if (key === null) throw new FieldPathError(`unable to parse requirement '${text}'`);
  const name = key[2] ?? '';
  return (labels) => Object.hasOwn(labels, name) === (key[1] === '');
}

/** A label that is absent is in no set, so it is outside all of them. */
function oneOf(key: string, values: readonly string[], wanted: boolean): LabelTest {
  const set = new Set(values);
  return (labels) => (Object.hasOwn(labels, key) && set.has(String(labels[key]))) === wanted;
}
