import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeCertificate } from '../../expression/functions/certificates.ts';
import { parseJsonText } from '../../expression/functions/encoding.ts';
import { generateText } from '../../expression/functions/random.ts';
import { formatGoJson } from '../../expression/go/format.ts';
import { compileRegexp } from '../../expression/go/regexp.ts';
import { truncateTime, wallClock } from '../../expression/go/time.ts';
import { spendBytes, spendList, spendSteps } from '../../json/budget.ts';
import { isNumber, type Json } from '../../json/value.ts';
import { parseYamlText } from '../../yaml/parse-text.ts';
import {
  type Effects,
  effectOverload,
  type FunctionDeclaration,
  type Library,
  overload,
} from '../types/environment.ts';
import { opaqueType, stringType } from '../types/type.ts';
import { checkedInteger } from '../value/arithmetic.ts';
import { attempt, CelError } from '../value/error.ts';
import { toJson } from '../value/json.ts';
import { doubleOf, isList, isMap, isPlainObject } from '../value/kinds.ts';
import { mapGet, setField } from '../value/map.ts';
import {
  Bytes,
  Duration,
  Opaque,
  Optional,
  StructShape,
  StructValue,
  Timestamp,
  type Value,
  type ValueObject,
} from '../value/value.ts';
import { isAuthority } from './url.ts';

/** The same function under several names: plain functions also have a prefix. */
function named(
  names: readonly string[],
  signature: string,
  call: FunctionDeclaration['overloads'][number]['call'],
): FunctionDeclaration[] {
  return names.map((name) => overload(name, signature, call));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function hash(name: string, digest: (data: Uint8Array) => Uint8Array): FunctionDeclaration[] {
  return named([name, `hash.${name}`], '(string) -> string', (text: string) => {
    spendSteps(text.length >> 2);
    return bytesToHex(digest(encoder.encode(text)));
  });
}

interface ImageReference {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

const imageType = 'kyverno.image';
type ImageValue = Opaque<ImageReference>;

const imageSyntax = /^([^@]*?)(?::([\w.-]{1,128}))?(?:@(sha256:[0-9a-f]{64}))?$/;
const repositorySyntax = /^[a-z0-9_\-./]{2,255}$/;

/**
 * Go's `go-containerregistry`: less strict than the image references of ClusterPolicies. Docker Hub is `index.docker.io`,
 * and its official images are in `library/`.
 */
function findImage(text: string): ImageReference | undefined {
  const [, name, tag, digest = ''] = imageSyntax.exec(text) ?? [];
  if (name === undefined) return undefined;
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const hasRegistry = first === 'localhost' || /[.:]/.test(first);
  const path = hasRegistry ? name.slice(slash + 1) : name;
  if (!repositorySyntax.test(path) || (hasRegistry && !isAuthority(first))) return undefined;
  const isHub = !hasRegistry || first === 'docker.io' || first === 'index.docker.io';
  return {
    registry: isHub ? 'index.docker.io' : first,
    repository: isHub && !path.includes('/') ? `library/${path}` : path,
    tag: tag ?? (digest === '' ? 'latest' : ''),
    digest,
  };
}

function readImage(text: string): ImageValue {
  const image = findImage(text);
  if (image === undefined) throw new CelError(`could not parse reference: ${text}`);
  // References are equal only if they are written alike.
  return new Opaque(imageType, image, text);
}

function identifier({ data: { tag, digest } }: ImageValue): string {
  if (digest === '') return tag;
  return tag === '' ? digest : `${tag}@${digest}`;
}

function imageMethod(name: string, result: string, read: (image: ImageValue) => Value): FunctionDeclaration {
  return overload(name, `${imageType}.() -> ${result}`, read);
}

const imageFunctions: readonly FunctionDeclaration[] = [
  ...named(['image', 'parseImageReference'], `(string) -> ${imageType}`, readImage),
  overload('isImage', '(string) -> bool', (text: string) => findImage(text) !== undefined),
  imageMethod('registry', 'string', ({ data }) => data.registry),
  imageMethod('repository', 'string', ({ data }) => data.repository),
  imageMethod('identifier', 'string', identifier),
  imageMethod('identifierWithSeparator', 'string', ({ data: { tag, digest } }) =>
    digest === '' ? `:${tag}` : `@${digest}`,
  ),
  imageMethod('tag', 'string', ({ data }) => data.tag),
  imageMethod('digest', 'string', ({ data }) => data.digest),
  imageMethod('containsDigest', 'bool', ({ data }) => data.digest !== ''),
];

/** All numbers become doubles, as Go decodes JSON. */
function withDoubles(value: Json): Value {
  if (isNumber(value)) return doubleOf(Number(value));
  if (Array.isArray(value)) return value.map(withDoubles);
  if (typeof value !== 'object' || value === null) return value as Value;
  const object: Record<string, Value> = {};
  for (const [key, item] of Object.entries(value)) setField(object, key, withDoubles(item as Json));
  return object;
}

/** Go encodes a duration as a number of nanoseconds, and an optional as its value. */
function asGoValue(value: Value): Value {
  // Values may share parts with themselves, so that a small one stands for a huge one.
  spendList(1);
  if (value instanceof Optional && value.value !== undefined) return asGoValue(value.value);
  if (value instanceof Duration) return checkedInteger(value.nanoseconds);
  if (isList(value)) return value.map(asGoValue);
  if (!isPlainObject(value)) return value;
  const object: Record<string, Value> = {};
  for (const [key, item] of Object.entries(value)) setField(object, key, asGoValue(item));
  return object;
}

const jsonType = 'json.Json';
const yamlType = 'yaml.Yaml';

const encodingFunctions: readonly FunctionDeclaration[] = [
  overload('unmarshal', `${jsonType}.(dyn) -> dyn`, (_json: Value, text: Value) => {
    if (typeof text !== 'string') throw new CelError('unsupported native conversion to string');
    return attempt(() => withDoubles(parseJsonText(text)));
  }),
  overload('marshal', `${jsonType}.(dyn) -> string`, (_json: Value, value: Value) =>
    formatGoJson(toJson(asGoValue(value))),
  ),
  overload('parse', `${yamlType}.(string) -> dyn`, (_yaml: Value, text: string) =>
    attempt(() => withDoubles(parseYamlText(text)), 'error converting YAML to JSON: '),
  ),
];

const serviceAccountPrefix = 'system:serviceaccount:';
const serviceAccountType = 'user.ServiceAccount';
const serviceAccountShape = new StructShape(serviceAccountType, ['Name', 'Namespace'], {
  Name: '',
  Namespace: '',
});

function parseServiceAccount(username: string): StructValue {
  const rest = username.startsWith(serviceAccountPrefix) ? username.slice(serviceAccountPrefix.length) : '';
  const colon = rest.indexOf(':');
  const [Namespace, Name] = colon < 0 ? ['', ''] : [rest.slice(0, colon), rest.slice(colon + 1)];
  return new StructValue(serviceAccountShape, [Name, Namespace]);
}

function listObjToMap(
  keys: readonly Value[],
  values: readonly Value[],
  keyField: string,
  valueField: string,
): ValueObject {
  if (keys.length !== values.length) {
    throw new CelError(
      `listObjToMap must take lists of equal length. list1: ${keys.length}, list2: ${values.length}`,
    );
  }
  const result: Record<string, Value> = {};
  keys.forEach((entry, index) => {
    const key = isMap(entry) ? mapGet(entry, keyField) : undefined;
    if (typeof key !== 'string') {
      throw new CelError('the passed key name cannot be handled as a string in the key object list');
    }
    const other = values[index] as Value;
    if (!isMap(other)) {
      throw new CelError('object cannot be handled as a map string to any in the value object list');
    }
    setField(result, key, mapGet(other, valueField) ?? null);
  });
  return result;
}

function random(effects: Effects, pattern = '[0-9a-z]{8}'): string {
  return attempt(() => {
    compileRegexp(pattern);
    return generateText(pattern, () => effects.random());
  });
}

const timeFunctions: readonly FunctionDeclaration[] = [
  effectOverload(
    'time.now',
    '() -> timestamp',
    (effects: Effects) => new Timestamp(BigInt(effects.now().getTime()) * 1_000_000n),
  ),
  overload(
    'time.truncate',
    '(timestamp, duration) -> timestamp',
    (time: Timestamp, unit: Duration) =>
      new Timestamp(truncateTime(time, unit.nanoseconds).nanoseconds, time.offsetSeconds),
  ),
  overload('time.toCron', '(timestamp) -> string', (time: Timestamp) => {
    const clock = wallClock(time);
    const date = `${clock.getUTCDate()} ${clock.getUTCMonth() + 1} ${clock.getUTCDay()}`;
    return `${clock.getUTCMinutes()} ${clock.getUTCHours()} ${date}`;
  }),
];

function gzip(effects: Effects): NonNullable<Effects['gzip']> {
  if (effects.gzip === undefined) throw new CelError('gzip is not available here');
  return effects.gzip;
}

const gzipFunctions: readonly FunctionDeclaration[] = [
  effectOverload('gzip.compress', '(dyn) -> bytes', (effects: Effects, value: Value) => {
    if (typeof value !== 'string') throw new CelError('gzip.compress() takes a string');
    spendSteps(value.length >> 1);
    return new Bytes(attempt(() => gzip(effects).compress(encoder.encode(value))));
  }),
  effectOverload('gzip.decompress', '(bytes) -> string', (effects: Effects, { data }: Bytes) =>
    attempt(() => {
      // The most that a byte can stand for is about a thousand.
      spendSteps(data.length << 3);
      const text = decoder.decode(gzip(effects).decompress(data));
      spendBytes(text.length);
      return text;
    }),
  ),
];

/** Kyverno's functions that need no data from outside. */
export const kyvernoLibrary: Library = {
  variables: [
    { name: 'json', type: opaqueType(jsonType), value: new Opaque(jsonType, undefined) },
    { name: 'yaml', type: opaqueType(yamlType), value: new Opaque(yamlType, undefined) },
  ],
  structs: [
    {
      name: serviceAccountType,
      fieldNames: ['Name', 'Namespace'],
      fieldType: (field) => (field === 'Name' || field === 'Namespace' ? stringType : undefined),
    },
  ],
  functions: [
    ...hash('sha1', sha1),
    ...hash('sha256', sha256),
    ...hash('md5', md5),
    ...imageFunctions,
    ...encodingFunctions,
    ...named(
      ['parseServiceAccount', 'user.parseServiceAccount'],
      `(string) -> struct ${serviceAccountType}`,
      parseServiceAccount,
    ),
    ...named(['listObjToMap', 'transform.listObjToMap'], '(list, list, string, string) -> map', listObjToMap),
    ...['random', 'random.random'].flatMap((name) => [
      effectOverload(name, '(string) -> string', random),
      effectOverload(name, '() -> string', random),
    ]),
    ...timeFunctions,
    ...gzipFunctions,
    overload(
      'x509.decode',
      '(string) -> dyn',
      (pem: string) => attempt(() => decodeCertificate(pem)) as Value,
    ),
  ],
};
