import {
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  mergeTag,
  NOT_RESOLVED,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';
import { decodeBase64, resolveYamlScalar, typedScalarStarts } from './scalar.ts';

/** Makes js-yaml read a resource as Kubernetes does. */

const tagPrefix = 'tag:yaml.org,2002:';
const neverDumped = { identify: () => false } as const;

/** One resolver for all plain scalars. */
const plainTag = defineScalarTag('tag:kymera:plain', {
  ...neverDumped,
  implicit: true,
  implicitFirstChars: typedScalarStarts,
  resolve: (text) => {
    const value = resolveYamlScalar(text);
    return typeof value === 'string' ? NOT_RESOLVED : value;
  },
});

const explicitScalar = (name: string, resolve: (text: string) => unknown) =>
  defineScalarTag(tagPrefix + name, { ...neverDumped, resolve });

const typedScalar = (name: string, accepts: (value: unknown) => boolean) =>
  explicitScalar(name, (text) => {
    const value = resolveYamlScalar(text);
    return accepts(value) ? value : NOT_RESOLVED;
  });

const mapOptions = {
  ...neverDumped,
  create: (): Record<string, unknown> => ({}),
  addPair: (target: Record<string, unknown>, key: unknown, value: unknown): string => {
    if (key === null || typeof key === 'object')
      return 'a mapping key must be a string, a number or a boolean';
    const name = String(key);
    // Assigning to __proto__ would set the prototype; a key is always data.
    if (name === '__proto__') {
      Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
    } else target[name] = value;
    return '';
  },
  has: (target: Record<string, unknown>, key: unknown) => Object.hasOwn(target, String(key)),
  keys: (result: Record<string, unknown>) => Object.keys(result),
  get: (result: Record<string, unknown>, key: unknown) => result[String(key)],
};

const listOptions = {
  ...neverDumped,
  create: (): unknown[] => [],
  addItem: (target: unknown[], item: unknown): void => {
    target.push(item);
  },
};

export const kubernetesResourceSchema = new Schema([
  plainTag,
  strTag,
  mergeTag,
  seqTag,
  defineMappingTag(`${tagPrefix}map`, mapOptions),
  typedScalar('null', (value) => value === null),
  typedScalar('bool', (value) => typeof value === 'boolean'),
  typedScalar('int', (value) => typeof value === 'bigint' || Number.isInteger(value)),
  typedScalar('float', (value) => typeof value === 'bigint' || typeof value === 'number'),
  explicitScalar('timestamp', (text) => text),
  explicitScalar('binary', decodeBase64),
  // Kubernetes ignores application tags (`!reference x`) and uses the value.
  defineScalarTag('!', { ...neverDumped, matchByTagPrefix: true, resolve: (text) => text }),
  defineMappingTag('!', { ...mapOptions, matchByTagPrefix: true }),
  defineSequenceTag('!', { ...listOptions, matchByTagPrefix: true }),
]);
