import type { Scope } from '../../expression/scope.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
  type Path,
} from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import { FieldPathError, type FieldText, splitFieldPath } from '../field-path/field-path.ts';
import { fieldPlaces } from '../field-path/places.ts';
import { writeField } from '../field-path/write.ts';
import { compileFieldPath } from './field-path.ts';
import { type LabelTest, parseLabelSelector } from './label-selector.ts';
import { describeSelector, type Identified, type IdField, idFields, labelsOf } from './selector.ts';
import { checkFields, compileOptions, textAt } from './shape.ts';
import {
  asRegexp,
  attempt,
  compileText,
  exactText,
  isBareWildcard,
  looseRegexp,
  type PerScope,
  type ReplacementBuild,
  wholeRegexp,
  wildcardText,
} from './text-matcher.ts';
import { targetValue } from './value.ts';

export interface PlanTarget {
  /** Whether a resource is selected and not rejected. */
  selects(resource: Identified, scope: Scope): boolean;
  /** Sets the value at every field path. Throws PatchError. */
  write(object: JsonObject, value: Json, scope: Scope): JsonObject;
  /** Where the fields are that `write` set. */
  placesOf(before: JsonObject, after: JsonObject, scope: Scope): readonly Path[];
}

export function compileTarget(target: Json, path: Path, build: ReplacementBuild): PlanTarget | undefined {
  if (!checkFields(target, ['select', 'reject', 'fieldPaths', 'options'], path, build)) return undefined;
  const select = compileSelect(member(target, 'select'), [...path, 'select'], build);
  const reject = compileReject(member(target, 'reject'), [...path, 'reject'], build);
  const options = compileOptions(member(target, 'options'), [...path, 'options'], build);
  const compare = build.mode === 'policy' ? wildcardText : looseRegexp;
  const syntax = { compare, lastItem: build.mode === 'policy' };
  const paths = fieldPathsOf(member(target, 'fieldPaths'), [...path, 'fieldPaths'], build).map(
    (text, index) => compileFieldPath(text, [...path, 'fieldPaths', index], syntax, build),
  );
  if (select === undefined) return undefined;
  const structured = build.mode === 'policy' ? 'kept' : 'sorted';
  const owner = `target ${describeSelector(select.written)}`;
  return {
    selects: (resource, scope) =>
      select.test(resource, scope) && !reject.some((entry) => !entry.empty && entry.test(resource, scope)),
    write(object, value, scope) {
      let result: Json = object;
      for (const { text, steps } of paths) {
        result = inPath(text, owner, () => {
          const { value: written, hits } = writeField(result, steps(scope), {
            create: options.create,
            structured,
            update: (current, location) => targetValue(current, value, options, build.mode, location),
          });
          if (hits === 0) throw new FieldPathError(notFound(options.create));
          return written;
        });
      }
      return result as JsonObject;
    },
    placesOf: (before, after, scope) =>
      paths.flatMap(({ steps }) => {
        const known = fieldPlaces(before, steps(scope));
        return known.length > 0 ? known : fieldPlaces(after, steps(scope));
      }),
  };
}

function fieldPathsOf(value: Json | undefined, path: Path, build: ReplacementBuild): readonly string[] {
  if (value === undefined || (isArray(value) && value.length === 0)) return ['metadata.name'];
  if (isArray(value) && value.every((item) => typeof item === 'string')) return value as readonly string[];
  build.reporter.error(path, 'KYM_REPLACEMENT_INVALID', 'fieldPaths must be a list of paths');
  return [];
}

interface CompiledSelector {
  readonly written: JsonObject;
  readonly empty: boolean;
  test(resource: Identified, scope: Scope): boolean;
}

const selectorFields = [...idFields, 'labelSelector', 'annotationSelector'];

function compileSelect(
  value: Json | undefined,
  path: Path,
  build: ReplacementBuild,
): CompiledSelector | undefined {
  if (value === undefined || value === null) {
    build.reporter.error(
      path.slice(0, -1),
      'KYM_REPLACEMENT_INVALID',
      'a target must specify resources to select',
    );
    return undefined;
  }
  // The documentation writes `select` as a list of one.
  if (!isArray(value)) return compileSelector(value, path, build);
  if (value.length === 1) return compileSelector(value[0] ?? null, [...path, 0], build);
  if (build.mode === 'kustomize' && value.length > 0) return compileAnyOf(value, path, build);
  build.reporter.error(
    path,
    'KYM_REPLACEMENT_INVALID',
    'select must be one selector',
    'Write one target per selector.',
  );
  return undefined;
}

/** A resource is selected by any of several selectors, and rejected by any of `reject`. */
function compileAnyOf(value: JsonArray, path: Path, build: ReplacementBuild): CompiledSelector {
  const selectors = value.flatMap((entry, index) => compileSelector(entry, [...path, index], build) ?? []);
  return {
    written: selectors[0]?.written ?? {},
    empty: false,
    test: (resource, scope) => selectors.some((selector) => selector.test(resource, scope)),
  };
}

function compileReject(
  value: Json | undefined,
  path: Path,
  build: ReplacementBuild,
): readonly CompiledSelector[] {
  if (value === undefined || value === null) return [];
  if (!isArray(value)) {
    build.reporter.error(path, 'KYM_REPLACEMENT_INVALID', 'reject must be a list of selectors');
    return [];
  }
  return value.flatMap((entry, index) => compileSelector(entry, [...path, index], build) ?? []);
}

const nothing: FieldText = { text: '', literal: true, matches: () => false };

/** All fields of a selector must match: one identity, and the labels and annotations. */
function compileSelector(value: Json, path: Path, build: ReplacementBuild): CompiledSelector | undefined {
  if (!checkFields(value, selectorFields, path, build)) return undefined;
  const compare = build.mode === 'policy' ? wildcardText : wholeRegexp;
  const fields: { readonly field: IdField; readonly text: PerScope<FieldText> }[] = [];
  for (const field of idFields) {
    const text = textAt(value, field, path, build);
    if (build.mode === 'kustomize' && text !== undefined && isBareWildcard(text)) {
      const message = `'${text}' is a wildcard and selects nothing: names are regular expressions; write '${asRegexp(text)}'`;
      build.reporter.warn([...path, field], 'KYM_REPLACEMENT_INVALID', message);
      fields.push({ field, text: () => nothing });
    } else if (text !== undefined && text !== '') {
      fields.push({ field, text: compileText(text, [...path, field], compare, build) });
    }
  }
  const labels = compileLabels(value, 'labelSelector', path, build);
  const annotations = compileLabels(value, 'annotationSelector', path, build);
  return {
    written: value,
    empty: fields.length === 0 && labels === undefined && annotations === undefined,
    test({ ids, object }, scope) {
      return (
        ids.some((id) => fields.every(({ field, text }) => text(scope).matches(id[field]))) &&
        (labels === undefined || labels(scope)(labelsOf(object, 'labels'))) &&
        (annotations === undefined || annotations(scope)(labelsOf(object, 'annotations')))
      );
    },
  };
}

function compileLabels(
  selector: JsonObject,
  field: 'labelSelector' | 'annotationSelector',
  path: Path,
  build: ReplacementBuild,
): PerScope<LabelTest> | undefined {
  const at = [...path, field];
  const strict = build.mode === 'kustomize';
  const map = member(selector, field);
  if (strict && isObject(map)) {
    const test = parseLabelSelector(map);
    return () => test;
  }
  const text = textAt(selector, field, path, build);
  if (text === undefined || text === '') return undefined;
  if (build.mode === 'policy' && text.includes('{{')) {
    const rendered = compileText(text, at, exactText, build);
    return (scope) => inPath(text, field, () => parseLabelSelector(rendered(scope).text));
  }
  const test = attempt(() => parseLabelSelector(text, { strict }), at, build);
  return () => test ?? (() => false);
}

function notFound(create: boolean): string {
  return create
    ? 'unable to find or create the field'
    : 'the field does not exist, and options.create is not set';
}

/** Adds the path and its owner to an error. */
export function inPath<T>(path: string, owner: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    const message = `field path '${path}' of ${owner}: ${error.message}`;
    throw new PatchError('KYM_REPLACEMENT_FAILED', splitFieldPath(path), message, { cause: error });
  }
}
