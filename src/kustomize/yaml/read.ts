import {
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  loadAll,
  mergeTag,
  NOT_RESOLVED,
  Schema,
  seqTag,
  strTag,
  YAMLException,
} from 'js-yaml';
import type { ErrorCode } from '../../errors.ts';
import { assignMember } from '../../json/edit.ts';
import type { Json } from '../../json/value.ts';
import { readDocuments } from '../../policy/documents.ts';
import { decodeBase64 } from '../../yaml/scalar.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { isNonFinite, type Typed, timestampOf, typedScalar, typedSettingsScalar } from './types.ts';

const maximumDepth = 250;
const maximumAliases = 1000;

/** A scalar whose source text differs from its value: `1.10`, `0644`, `null`. */
export class ScalarText {
  readonly text: string;
  readonly value: Json;
  constructor(text: string, value: Json) {
    this.text = text;
    this.value = value;
  }
}

/** Reads the non-empty documents of a resource file; scalars may be `ScalarText`. */
export function readResourceYaml(text: string): readonly Json[] {
  return readAll(text, resourceSchema);
}

/** Reads the documents of a kustomization or settings file, with YAML 1.1 booleans. */
export function readSettingsYaml(text: string): readonly Json[] {
  return readAll(text, settingsSchema).map((value) => plainValue(value));
}

/** Reads the document of a settings file; null if empty. */
export function readSettings(text: string, file: string): Json {
  try {
    return readSettingsYaml(text)[0] ?? null;
  } catch (error) {
    throw yamlError('KYM_YAML_SYNTAX', error, text, { file });
  }
}

/** A YAML error with the likely cause. `firstLine` is the first line of `text` in the file. */
export function yamlError(
  code: ErrorCode,
  error: unknown,
  text: string,
  { file, firstLine = 1 }: { readonly file: string; readonly firstLine?: number | undefined },
): KustomizeError {
  const prefix = code === 'KYM_YAML_SYNTAX' ? '' : 'invalid YAML: ';
  // The reader of policies knows the exact position of every error, and common mistakes.
  const exact =
    error instanceof YAMLException
      ? readDocuments({ file, text }).problems.find((problem) => problem.code === 'KYM_YAML_SYNTAX')
      : undefined;
  if (exact === undefined) return new KustomizeError(code, `${prefix}${yamlMessage(error)}`, { file });
  const { message, line = 1, hint, sourceLine } = exact;
  return new KustomizeError(code, `${prefix}${message}`, {
    file,
    line: firstLine + line - 1,
    hint,
    sourceLine,
  });
}

/** The message of a YAML error with line and column. */
export function yamlMessage(error: unknown): string {
  if (!(error instanceof YAMLException)) return error instanceof Error ? error.message : String(error);
  const { reason, mark } = error;
  if (mark === undefined || mark === null) return reason;
  return `${reason} (line ${mark.line + 1}, column ${mark.column + 1})`;
}

/** The maximum number of values in a document after expanding aliases. */
const maximumValues = 2_000_000;

/** Replaces `ScalarText` by plain values, in place. */
export function plainValue(root: Json): Json {
  const sizes = new Map<object, number>();
  const open = new Set<object>();
  let size = 0;
  const visit = (value: Json): Json => {
    size++;
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof ScalarText) return value.value;
    const known = sizes.get(value);
    size += known ?? 0;
    if (size > maximumValues) throw new Error('aliases expand the document too much');
    if (known !== undefined) return value;
    if (open.has(value)) throw new Error('an alias refers to a value that contains it');
    open.add(value);
    const before = size;
    const members = value as Record<string, Json>;
    for (const key of Object.keys(members)) assignMember(members, key, visit(members[key] as Json));
    sizes.set(value, size - before);
    open.delete(value);
    return value;
  };
  return visit(root);
}

function readAll(text: string, schema: Schema): readonly Json[] {
  const values = loadAll(text, {
    schema,
    maxDepth: maximumDepth,
    maxAliases: maximumAliases,
    json: schema === settingsSchema,
  }) as Json[];
  return values.filter((value) => value !== null && !(value instanceof ScalarText && value.value === null));
}

function resolveResourceScalar(text: string): unknown {
  const value = typedScalar(text);
  if (value === undefined) {
    const date = timestampOf(text);
    if (date !== undefined) return new ScalarText(text, date);
    if (isNonFinite(text)) throw new Error(`JSON cannot represent ${text}`);
    return NOT_RESOLVED;
  }
  // An integer beyond 2^53 stays a bigint; no stage calculates with it.
  return value !== null && String(value) === text ? value : new ScalarText(text, value as Json);
}

function resolveSettingsScalar(text: string): unknown {
  const value = typedSettingsScalar(text);
  if (value === undefined && isNonFinite(text)) throw new Error(`JSON cannot represent ${text}`);
  if (value === undefined) return NOT_RESOLVED;
  // A key such as `n` stays a string.
  return String(value) === text ? value : new ScalarText(text, value);
}

const tagPrefix = 'tag:yaml.org,2002:';
const neverDumped = { identify: () => false } as const;
const typedStarts: readonly string[] = ['', ...'+-.0123456789~yYnNtTfFoO'];

function schemaOf(resolve: (text: string) => unknown, typed: (text: string) => Typed): Schema {
  const explicit = (name: string, read: (text: string) => unknown) =>
    defineScalarTag(tagPrefix + name, { ...neverDumped, resolve: read });
  const checked = (name: string, accepts: (value: unknown) => boolean) =>
    explicit(name, (text) => (accepts(typed(text)) ? typed(text) : NOT_RESOLVED));
  return new Schema([
    defineScalarTag('tag:kymera:plain', {
      ...neverDumped,
      implicit: true,
      implicitFirstChars: typedStarts,
      resolve,
    }),
    strTag,
    mergeTag,
    seqTag,
    defineMappingTag(`${tagPrefix}map`, mapOptions),
    checked('null', (value) => value === null),
    checked('bool', (value) => typeof value === 'boolean'),
    checked('int', (value) => typeof value === 'bigint' || Number.isInteger(value)),
    checked('float', (value) => typeof value === 'number'),
    explicit('timestamp', (text) => text),
    explicit('binary', decodeBase64),
    defineScalarTag('!', { ...neverDumped, matchByTagPrefix: true, resolve: (text) => text }),
    defineMappingTag('!', { ...mapOptions, matchByTagPrefix: true }),
    defineSequenceTag('!', { ...listOptions, matchByTagPrefix: true }),
  ]);
}

/** Keys are always strings. Plain assignment to `__proto__` would set the prototype. */
const keyText = (key: unknown) => (key instanceof ScalarText ? key.text : String(key));

const mapOptions = {
  ...neverDumped,
  create: (): Record<string, unknown> => ({}),
  addPair: (target: Record<string, unknown>, key: unknown, value: unknown): string => {
    if (typeof key === 'object' && key !== null && !(key instanceof ScalarText))
      return 'a key must be a string';
    const name = keyText(key);
    if (name === '__proto__') {
      Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
    } else target[name] = value;
    return '';
  },
  has: (target: Record<string, unknown>, key: unknown) => Object.hasOwn(target, keyText(key)),
  keys: (result: Record<string, unknown>) => Object.keys(result),
  get: (result: Record<string, unknown>, key: unknown) => result[keyText(key)],
};

const listOptions = {
  ...neverDumped,
  create: (): unknown[] => [],
  addItem: (target: unknown[], item: unknown): void => {
    target.push(item);
  },
};

const resourceSchema = schemaOf(resolveResourceScalar, typedScalar);
const settingsSchema = schemaOf(resolveSettingsScalar, typedSettingsScalar);
