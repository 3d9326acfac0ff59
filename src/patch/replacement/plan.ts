import type { Scope } from '../../expression/scope.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { isArray, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { PatchError } from '../compiled-patch.ts';
import { FieldPathError, type FieldText, splitFieldPath } from '../field-path/field-path.ts';
import { fieldPlaces } from '../field-path/places.ts';
import { readField } from '../field-path/read.ts';
import { compileFieldPath } from './field-path.ts';
import {
  describeSelector,
  type IdField,
  idFields,
  type ResourceId,
  type SourceSelector,
} from './selector.ts';
import { checkFields, compileOptions, textAt } from './shape.ts';
import { compileTarget, inPath, type PlanTarget } from './target.ts';
import {
  compileJson,
  compileText,
  exactText,
  type PerScope,
  type ReplacementBuild,
  wildcardText,
} from './text-matcher.ts';
import { type ReplacementMode, sourcePart } from './value.ts';

/** The parts of one replacement. The caller finds the source and applies the targets. */
export interface ReplacementPlan {
  readonly roots: ReadonlySet<string>;
  readonly source: PlanSource | { readonly literal: PerScope<Json> };
  readonly targets: readonly PlanTarget[];
}

export interface PlanSource {
  selector(scope: Scope): SourceSelector;
  fits(id: ResourceId, scope: Scope): boolean;
  /** The value of the source. Throws PatchError when it has none. */
  read(object: JsonObject, scope: Scope): Json;
  /** Where the value is. */
  placeOf(object: JsonObject, scope: Scope): Path | undefined;
}

export function compilePlan(
  entry: Json,
  path: Path,
  reporter: Reporter,
  mode: ReplacementMode,
): ReplacementPlan | undefined {
  let failed = false;
  const error: Reporter['error'] = (...problem) => {
    failed = true;
    reporter.error(...problem);
  };
  const build: ReplacementBuild = {
    mode,
    reporter: { error, warn: (...problem) => reporter.warn(...problem) },
    roots: new Set(),
  };
  if (!checkFields(entry, ['source', 'sourceValue', 'targets', 'path'], path, build)) return undefined;
  if (Object.hasOwn(entry, 'path')) {
    error(
      [...path, 'path'],
      'KYM_REPLACEMENT_INVALID',
      'a replacement in a separate file is not supported here',
      'Write source and targets inline.',
    );
  }
  const source = compileSource(entry, path, build);
  const targets = compileTargets(member(entry, 'targets'), [...path, 'targets'], build);
  return failed || source === undefined ? undefined : { roots: build.roots, source, targets };
}

function compileTargets(value: Json | undefined, path: Path, build: ReplacementBuild): readonly PlanTarget[] {
  if (!isArray(value) || value.length === 0) {
    build.reporter.error(
      path,
      'KYM_REPLACEMENT_INVALID',
      'a replacement must specify a source and at least one target',
    );
    return [];
  }
  return value.flatMap((target, index) => compileTarget(target, [...path, index], build) ?? []);
}

function compileSource(
  entry: JsonObject,
  path: Path,
  build: ReplacementBuild,
): ReplacementPlan['source'] | undefined {
  const source = member(entry, 'source') ?? undefined;
  const literal = member(entry, 'sourceValue');
  if (source !== undefined && literal !== undefined) {
    build.reporter.error(
      [...path, 'sourceValue'],
      'KYM_REPLACEMENT_INVALID',
      'source and sourceValue are mutually exclusive',
    );
  }
  if (literal !== undefined) return { literal: compileJson(literal, [...path, 'sourceValue'], build) };
  if (source !== undefined) return compileSourceSelector(source, [...path, 'source'], build);
  build.reporter.error(
    path,
    'KYM_REPLACEMENT_INVALID',
    'a replacement must specify a source and at least one target',
  );
  return undefined;
}

function compileSourceSelector(source: Json, path: Path, build: ReplacementBuild): PlanSource | undefined {
  if (!checkFields(source, [...idFields, 'fieldPath', 'options'], path, build)) return undefined;
  // kustomize compares the identity of a source literally, unlike that of a target.
  const compare = build.mode === 'policy' ? wildcardText : exactText;
  const fields: { readonly field: IdField; readonly text: PerScope<FieldText> }[] = [];
  for (const field of idFields) {
    const text = textAt(source, field, path, build);
    if (text !== undefined && text !== '') {
      fields.push({ field, text: compileText(text, [...path, field], compare, build) });
    }
  }
  const options = compileOptions(member(source, 'options'), [...path, 'options'], build);
  const written = textAt(source, 'fieldPath', path, build);
  if (written !== undefined && splitFieldPath(written).includes('*')) {
    build.reporter.error(
      [...path, 'fieldPath'],
      'KYM_REPLACEMENT_INVALID',
      "the wildcard '*' matches many values, but a source is one value",
    );
  }
  const fieldPath = compileFieldPath(
    written === undefined || written === '' ? 'metadata.name' : written,
    [...path, 'fieldPath'],
    { compare, lastItem: true },
    build,
  );
  const named = build.mode === 'policy' ? namedBy : ({ text }: FieldText) => text;
  const selector = (scope: Scope): SourceSelector =>
    Object.fromEntries(fields.map(({ field, text }) => [field, named(text(scope))]));
  return {
    selector,
    fits: (id, scope) => fields.every(({ field, text }) => text(scope).matches(id[field])),
    read: (object, scope) =>
      inPath(fieldPath.text, `source ${describeSelector(selector(scope))}`, () => {
        const value = readField(object, fieldPath.steps(scope));
        if (value === undefined || value === null || isEmptyContainer(value)) {
          throw new FieldPathError('the field does not exist');
        }
        return sourcePart(value, options);
      }),
    placeOf: (object, scope) => fieldPlaces(object, fieldPath.steps(scope))[0],
  };
}

/** A lookup would treat it as a wildcard. */
function namedBy({ text, literal }: FieldText): string {
  if (!literal || !hasWildcard(text)) return text;
  throw new PatchError('KYM_REPLACEMENT_FAILED', [], `'${text}' is not a valid source name`);
}

function isEmptyContainer(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
