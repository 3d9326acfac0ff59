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
import { assignMember } from '../../json/edit.ts';
import type { Json } from '../../json/value.ts';
import { decodeBase64 } from '../../yaml/scalar.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { isNonFinite, type Typed, timestampOf, typedScalar, typedScalarOfOld } from './types.ts';

const maximumDepth = 250;
const maximumAliases = 1000;

/** A scalar whose text says more than its value: `1.10`, `0644`, `null`. */
export class ScalarText {
  readonly text: string;
  readonly value: Json;
  constructor(text: string, value: Json) {
    this.text = text;
    this.value = value;
  }
}

/** All documents of a text that are not empty, as resources are read; scalars may be `ScalarText`. */
export function readResourceYaml(text: string): readonly Json[] {
  return readAll(text, resourceSchema);
}

/** The documents of a text as kustomizations and settings are read: with the booleans of YAML 1.1. */
export function readSettingsYaml(text: string): readonly Json[] {
  return readAll(text, settingsSchema).map((value) => plainValue(value));
}

/** The one document of a settings file; null when it is empty. */
export function readSettings(text: string, file: string): Json {
  try {
    return readSettingsYaml(text)[0] ?? null;
  } catch (error) {
    throw new KustomizeError('KYM_YAML_SYNTAX', yamlMessage(error), { file });
  }
}

/** What is wrong with a YAML text, and on which line. */
export function yamlMessage(error: unknown, firstLine = 1): string {
  if (!(error instanceof YAMLException)) return error instanceof Error ? error.message : String(error);
  const { reason, mark } = error;
  if (mark === undefined || mark === null) return reason;
  return `${reason} (line ${firstLine + mark.line}, column ${mark.column + 1})`;
}

/** Aliases may not make a document larger than this many values. */
const maximumValues = 2_000_000;

/** A value of which every scalar is a plain one; the value that was read is changed. */
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
    if (size > maximumValues) throw new Error('aliases make the document far larger than its text');
    if (known !== undefined) return value;
    if (open.has(value)) throw new Error('an alias stands inside the value it names');
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
    if (isNonFinite(text)) throw new Error(`${text} is not a number that JSON can hold`);
    return NOT_RESOLVED;
  }
  // A whole number beyond 2^53 is carried as a bigint: no stage calculates with it.
  return value !== null && String(value) === text ? value : new ScalarText(text, value as Json);
}

function resolveSettingsScalar(text: string): unknown {
  const value = typedScalarOfOld(text);
  if (value === undefined && isNonFinite(text)) throw new Error(`${text} is not a number that JSON can hold`);
  if (value === undefined) return NOT_RESOLVED;
  const plain = typeof value === 'bigint' ? Number(value) : value;
  // A key such as `n` is meant as text.
  return String(plain) === text ? plain : new ScalarText(text, plain);
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

/** Keys are text whatever they look like; assigning to `__proto__` would set the prototype. */
const keyText = (key: unknown) => (key instanceof ScalarText ? key.text : String(key));

const mapOptions = {
  ...neverDumped,
  create: (): Record<string, unknown> => ({}),
  addPair: (target: Record<string, unknown>, key: unknown, value: unknown): string => {
    if (typeof key === 'object' && key !== null && !(key instanceof ScalarText)) return 'a key must be text';
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
const settingsSchema = schemaOf(resolveSettingsScalar, typedScalarOfOld);
