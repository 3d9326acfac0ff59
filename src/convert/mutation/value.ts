import type { Json } from '../../json/value.ts';
import { isArray, isObject } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { asDeclared } from '../../patch/structured/declared.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import { listText, literal, mapText, quote, text } from '../expression/cel-text.ts';
import { translateTemplate } from '../expression/template.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import type { Place } from './place.ts';

/** What a value is written for. */
export interface Writing {
  readonly scope: Scope;
  readonly schema: StructuredSchema | undefined;
  /** Field path in the policy. */
  readonly path: string;
  /** The field that `{{@}}` reads. */
  readonly self?: Place | undefined;
  /** Set where the value is written as a whole, and not merged. */
  readonly isFresh?: boolean | undefined;
}

/** A scope that records the values that a patch substitutes: the old rule fails if one of them fails, even if it is not written. */
export interface PatchScope extends Scope {
  readonly substituted: CelText[];
}

export function recordingScope(scope: Scope, substituted: CelText[]): PatchScope {
  return {
    ...scope,
    substituted,
    child: (bindings) => recordingScope(scope.child(bindings), substituted),
  };
}

function substitute(value: Json, path: string, scope: Scope): CelText {
  const written = translateTemplate(value, path, scope);
  if ('substituted' in scope) (scope as PatchScope).substituted.push(written);
  return written;
}

export function hasVariables(value: Json): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => key.includes('{{') || hasVariables(inner));
}

/** A value to write. */
export interface Written extends CelText {
  /** The variable, if its value may be null: then the field is deleted instead. */
  readonly nullable?: CelText | undefined;
}

const scalarTypes: readonly string[] = ['string', 'int', 'double', 'bool'];

/** A scalar as it is written to a field: a number or boolean becomes a string where the schema declares one. */
export function scalarText(value: Json, writing: Writing): Written {
  const { schema, path } = writing;
  if (!hasVariables(value)) return literal(asDeclared(value, schema), path);
  const substituted = substitute(value, path, selfScope(writing));
  const isWhole = typeof value === 'string' && /^\s*\{\{.*\}\}\s*$/s.test(value);
  if (
    isWhole &&
    writing.isFresh !== true &&
    schema?.kind !== 'scalar' &&
    !scalarTypes.includes(substituted.type)
  ) {
    throw new NotConvertible(path, 'the value of a variable may be a list or map, which would be merged');
  }
  const isString = schema?.kind === 'scalar' && schema.scalar === 'string' && !isText(substituted);
  const written =
    isString && substituted.type !== 'null'
      ? { ...text(`string(${substituted.source})`, 'string'), total: substituted.total }
      : substituted;
  const mayBeNull =
    substituted.type === 'null' ||
    (substituted.type === 'dyn' && (substituted.schema === undefined || /\bnull\b/.test(substituted.source)));
  return mayBeNull ? { ...written, nullable: substituted } : written;
}

export function isText({ type, schema }: CelText): boolean {
  return type === 'string' || (schema?.kind === 'scalar' && schema.scalar === 'string');
}

/** A value that is certainly not null. */
export function definiteText(value: Json, writing: Writing): CelText {
  const written = scalarText(value, writing);
  if (written.nullable === undefined) return written;
  throw new NotConvertible(writing.path, 'the variable may be null');
}

function selfScope({ scope, schema, self }: Writing): Scope {
  if (self === undefined) return scope;
  return scope.child(new Map([['@', { ...text(self.read, 'dyn'), schema }]]));
}

/** A value as it is written where there is none: without nulls, and with the keys of `+()` anchors. */
export function freshText(value: Json, writing: Writing): CelText {
  const { schema, path } = writing;
  if (isArray(value)) {
    const items = schema?.kind === 'list' ? schema.items : undefined;
    return listText(
      value.map((item, index) =>
        item === null
          ? literal(null, path)
          : freshText(item, { ...writing, schema: items, path: `${path}[${index}]` }),
      ),
    );
  }
  if (!isObject(value)) return definiteText(value, { ...writing, isFresh: true });
  const entries = Object.entries(value).filter(([key, inner]) => inner !== null && !key.startsWith('$'));
  return mapText(
    entries.map(([written, inner]) => {
      const anchor = parseAnchor(written);
      if (anchor !== undefined && anchor.type !== 'add') {
        throw new NotConvertible(
          `${path}.${written}`,
          'a condition inside a value that is added never holds',
        );
      }
      const key = anchor?.key ?? written;
      const field = schema?.kind === 'map' ? schema.field(key) : undefined;
      return {
        key: keyText(key, `${path}.${written}`, writing.scope),
        value: freshText(inner, { ...writing, schema: field, path: `${path}.${written}` }),
      };
    }),
  );
}

/** A key of a map, which may have variables. */
export function keyText(key: string, path: string, scope: Scope): CelText {
  if (!key.includes('{{')) return text(quote(key), 'string');
  const written = substitute(key, path, scope);
  return isText(written) ? written : text(`string(${written.source})`, 'string');
}
