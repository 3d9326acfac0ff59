import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  Attribute,
  type AttributeValue,
  Certificate,
  Extensions,
  Name,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';
import { type AsnType, BaseStringBlock, type BitString, Constructed, fromBER, Integer } from 'asn1js';
import type { Json, JsonObject } from '../../../json/value.ts';
import { decodeBase64 } from '../base64.ts';
import {
  alternativeNames,
  base64,
  certificateExtensions,
  describeExtension,
  oidNumbers,
  orNull,
  subjectAltName,
} from './extensions.ts';

/** A PEM certificate or certificate request as the JSON of Go's x509 structures. Throws an Error for anything else. */
export function decodeX509(pem: string): JsonObject {
  const [, type, body = ''] = /-----BEGIN ([A-Z0-9 ]+)-----\s*\n([^-]*)-----END \1-----/.exec(pem) ?? [];
  if (type === undefined) throw new Error('failed to decode PEM block');
  const bytes = decodeBase64(body.replace(/[ \t]/g, ''));
  if (type === 'CERTIFICATE') return wellFormed('certificate', () => describeCertificate(bytes));
  if (type === 'CERTIFICATE REQUEST') return wellFormed('certificate request', () => describeRequest(bytes));
  throw new Error('PEM block neither contains a CERTIFICATE or CERTIFICATE REQUEST');
}

/** The key is well-formed, but Kyverno supports only RSA. */
class UnsupportedKeyError extends Error {}

/** The parser's own messages name its classes. */
function wellFormed(what: string, describe: () => JsonObject): JsonObject {
  try {
    return describe();
  } catch (cause) {
    if (cause instanceof UnsupportedKeyError) throw cause;
    throw new Error(`x509: malformed ${what}`, { cause });
  }
}

function describeCertificate(bytes: Uint8Array): JsonObject {
  const [body] = blocksOf(blockOf(bytes));
  // An explicit version stands before the serial number.
  const parts = blocksOf(body).filter((part, index) => index > 0 || part instanceof Integer);
  const { tbsCertificate: certificate, ...outer } = AsnConvert.parse(bytes, Certificate);
  return {
    Raw: base64(bytes),
    RawTBSCertificate: rawOf(body),
    ...keyAndSubject(parts[5], parts[4]),
    RawIssuer: rawOf(parts[2]),
    Signature: base64(outer.signatureValue),
    SignatureAlgorithm: signatureAlgorithm(outer.signatureAlgorithm),
    Version: certificate.version + 1,
    SerialNumber: Number((parts[0] as Integer).toBigInt()),
    Issuer: describeName(certificate.issuer),
    NotBefore: describeTime(certificate.validity.notBefore.getTime()),
    NotAfter: describeTime(certificate.validity.notAfter.getTime()),
    ...certificateExtensions([...(certificate.extensions ?? [])]),
  };
}

const extensionRequest = '1.2.840.113549.1.9.14';

function describeRequest(bytes: Uint8Array): JsonObject {
  const [body, algorithm, signature] = blocksOf(blockOf(bytes));
  const [version, subject, key, attributes] = blocksOf(body);
  const requested = blocksOf(attributes)
    .map((attribute) => AsnConvert.parse(attribute.valueBeforeDecodeView, Attribute))
    .filter(({ type }) => type === extensionRequest);
  const extensions = requested
    .flatMap(({ values }) => values)
    .flatMap((value) => [...AsnConvert.parse(value, Extensions)]);
  const names = extensions.find(({ extnID }) => extnID === subjectAltName);
  return {
    Raw: base64(bytes),
    RawTBSCertificateRequest: rawOf(body),
    ...keyAndSubject(key, subject),
    Version: Number((version as Integer).toBigInt()),
    Signature: base64((signature as BitString).valueBlock.valueHexView),
    SignatureAlgorithm: signatureAlgorithm(AsnConvert.parse(rawBytes(algorithm), AlgorithmIdentifier)),
    Attributes: orNull(requested.map(describeAttribute)),
    Extensions: orNull(extensions.map(describeExtension)),
    ExtraExtensions: null,
    ...alternativeNames(names?.extnValue.buffer),
  };
}

/** Go prints the second element of each extension: the critical flag, or else the value. */
function describeAttribute({ type, values }: Attribute): Json {
  return {
    Type: oidNumbers(type),
    Value: values.map((value) => {
      const extensions = [...AsnConvert.parse(value, Extensions)];
      return extensions.map(({ extnID, critical, extnValue }) => ({
        Type: oidNumbers(extnID),
        Value: critical ? true : base64(extnValue.buffer),
      }));
    }),
  };
}

function keyAndSubject(key: AsnType | undefined, subject: AsnType | undefined): JsonObject {
  return {
    RawSubjectPublicKeyInfo: rawOf(key),
    RawSubject: rawOf(subject),
    PublicKeyAlgorithm: 1,
    PublicKey: describeRsaKey(AsnConvert.parse(rawBytes(key), SubjectPublicKeyInfo)),
    Subject: describeName(AsnConvert.parse(rawBytes(subject), Name)),
  };
}

function describeRsaKey({ algorithm, subjectPublicKey }: SubjectPublicKeyInfo): JsonObject {
  if (algorithm.algorithm !== '1.2.840.113549.1.1.1') {
    throw new UnsupportedKeyError('certificate should use rsa algorithm');
  }
  const [modulus, exponent] = blocksOf(blockOf(new Uint8Array(subjectPublicKey))) as Integer[];
  return { N: String(modulus?.toBigInt()), E: Number(exponent?.toBigInt()) };
}

const listFields: ReadonlyMap<string, string> = new Map([
  ['2.5.4.6', 'Country'],
  ['2.5.4.10', 'Organization'],
  ['2.5.4.11', 'OrganizationalUnit'],
  ['2.5.4.7', 'Locality'],
  ['2.5.4.8', 'Province'],
  ['2.5.4.9', 'StreetAddress'],
  ['2.5.4.17', 'PostalCode'],
]);
const stringFields: ReadonlyMap<string, string> = new Map([
  ['2.5.4.5', 'SerialNumber'],
  ['2.5.4.3', 'CommonName'],
]);

/** The fields of Go's `pkix.Name`. */
function describeName(name: Name): JsonObject {
  const attributes = [...name]
    .flatMap((set) => [...set])
    .map(({ type, value }) => ({ type, text: stringOf(value) }));
  const valuesOf = (oid: string): string[] =>
    attributes.filter(({ type }) => type === oid).map(({ text }) => text);
  return {
    ...Object.fromEntries([...listFields].map(([oid, field]) => [field, orNull(valuesOf(oid))])),
    ...Object.fromEntries([...stringFields].map(([oid, field]) => [field, valuesOf(oid).at(-1) ?? ''])),
    Names: orNull(attributes.map(({ type, text }) => ({ Type: oidNumbers(type), Value: text }))),
    ExtraNames: null,
  };
}

function stringOf(value: AttributeValue): string {
  if (value.anyValue === undefined) return value.toString();
  const block = blockOf(new Uint8Array(value.anyValue));
  return block instanceof BaseStringBlock ? String(block.getValue()) : value.toString();
}

function describeTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}

/** Go's constants for signature algorithms; 0 is unknown. */
const signatureAlgorithms: ReadonlyMap<string, number> = new Map([
  ['1.2.840.113549.1.1.2', 1],
  ['1.2.840.113549.1.1.4', 2],
  ['1.2.840.113549.1.1.5', 3],
  ['1.3.14.3.2.29', 3],
  ['1.2.840.113549.1.1.11', 4],
  ['1.2.840.113549.1.1.12', 5],
  ['1.2.840.113549.1.1.13', 6],
  ['1.2.840.10040.4.3', 7],
  ['2.16.840.1.101.3.4.3.2', 8],
  ['1.2.840.10045.4.1', 9],
  ['1.2.840.10045.4.3.2', 10],
  ['1.2.840.10045.4.3.3', 11],
  ['1.2.840.10045.4.3.4', 12],
  ['1.3.101.112', 16],
]);

const rsaPss = '1.2.840.113549.1.1.10';
const pssByHash: ReadonlyMap<string, number> = new Map([
  ['2.16.840.1.101.3.4.2.1', 13],
  ['2.16.840.1.101.3.4.2.2', 14],
  ['2.16.840.1.101.3.4.2.3', 15],
]);

function signatureAlgorithm({ algorithm, parameters }: AlgorithmIdentifier): number {
  if (algorithm !== rsaPss) return signatureAlgorithms.get(algorithm) ?? 0;
  const options = parameters ? blocksOf(blockOf(new Uint8Array(parameters))) : [];
  const hash = options.find(({ idBlock }) => idBlock.tagNumber === 0);
  if (hash === undefined) return 0;
  return pssByHash.get(AsnConvert.parse(rawBytes(blocksOf(hash)[0]), AlgorithmIdentifier).algorithm) ?? 0;
}

function blockOf(bytes: Uint8Array): AsnType {
  const { result, offset } = fromBER(bytes);
  if (offset < 0) throw new Error(result.error);
  return result;
}

function blocksOf(block: AsnType | undefined): readonly AsnType[] {
  return block instanceof Constructed ? block.valueBlock.value : [];
}

/** The bytes as they stand in the certificate: what is signed is never encoded again. */
function rawBytes(block: AsnType | undefined): Uint8Array {
  if (block === undefined) throw new Error('an element is missing');
  return block.valueBeforeDecodeView;
}

function rawOf(block: AsnType | undefined): string {
  return base64(rawBytes(block));
}
