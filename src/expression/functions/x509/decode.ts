import type { Json, JsonObject } from '../../../json/value.ts';
import { decodeBase64, encodeBase64 } from '../base64.ts';
import {
  child,
  children,
  contextTag,
  type Der,
  derTag,
  readBits,
  readDer,
  readInteger,
  readOid,
  readTime,
} from './der.ts';
import {
  describeExtension,
  type Extension,
  readAlternativeNames,
  readAuthorityAccess,
  readBasicConstraints,
  readDistributionPoints,
  readExtendedKeyUsage,
  readExtension,
  readKeyUsage,
  readPolicies,
} from './extensions.ts';
import { readName } from './name.ts';
import { signatureAlgorithm } from './signature.ts';

/** A PEM certificate or certificate request as the JSON of Go's x509 structures. Throws an Error for anything else. */
export function decodeX509(pem: string): JsonObject {
  const [, type, body = ''] = /-----BEGIN ([A-Z0-9 ]+)-----\s*\n([^-]*)-----END \1-----/.exec(pem) ?? [];
  if (type === undefined) throw new Error('failed to decode PEM block');
  const bytes = decodeBase64(body.replace(/[ \t]/g, ''));
  if (type === 'CERTIFICATE') return readCertificate(bytes);
  if (type === 'CERTIFICATE REQUEST') return readRequest(bytes);
  throw new Error('PEM block neither contains a CERTIFICATE or CERTIFICATE REQUEST');
}

function outerParts(bytes: Uint8Array): readonly [Der, Der, Der] {
  const outer = child(readDer(bytes), 0);
  const parts = children(outer);
  return [child(parts, 0), child(parts, 1), child(parts, 2)];
}

function readCertificate(bytes: Uint8Array): JsonObject {
  const [body, algorithm, signature] = outerParts(bytes);
  const parts = children(body);
  const versioned = child(parts, 0).tag === contextTag(0, true);
  const version = versioned ? Number(readInteger(child(children(child(parts, 0)), 0))) + 1 : 1;
  const [serial, , issuer, validity, subject, key, ...rest] = versioned ? parts.slice(1) : parts;
  if (!serial || !issuer || !validity || !subject || !key) throw new Error('x509: malformed certificate');
  const listed = rest.find((part) => part.tag === contextTag(3, true));
  const extensions = listed === undefined ? [] : children(child(children(listed), 0)).map(readExtension);
  return {
    Raw: encodeBase64(bytes),
    RawTBSCertificate: encodeBase64(body.raw),
    ...keyAndSubject(key, subject),
    RawIssuer: encodeBase64(issuer.raw),
    Signature: encodeBase64(readBits(signature)),
    SignatureAlgorithm: signatureAlgorithm(algorithm),
    Version: version,
    SerialNumber: Number(readInteger(serial)),
    Issuer: readName(issuer),
    NotBefore: readTime(child(children(validity), 0)),
    NotAfter: readTime(child(children(validity), 1)),
    ...describeExtensions(extensions),
  };
}

function keyAndSubject(key: Der, subject: Der): JsonObject {
  return {
    RawSubjectPublicKeyInfo: encodeBase64(key.raw),
    RawSubject: encodeBase64(subject.raw),
    PublicKeyAlgorithm: 1,
    PublicKey: readRsaKey(key),
    Subject: readName(subject),
  };
}

function readRsaKey(info: Der): JsonObject {
  const [algorithm, key] = children(info);
  if (!algorithm || !key || readOid(child(children(algorithm), 0)).join('.') !== '1.2.840.113549.1.1.1') {
    throw new Error('certificate should use rsa algorithm');
  }
  const numbers = children(child(readDer(readBits(key)), 0));
  return { N: readInteger(child(numbers, 0)).toString(), E: Number(readInteger(child(numbers, 1))) };
}

/** What a certificate without the extension has. */
const absent: JsonObject = {
  KeyUsage: 0,
  BasicConstraintsValid: false,
  IsCA: false,
  MaxPathLen: 0,
  MaxPathLenZero: false,
  ExtKeyUsage: null,
  UnknownExtKeyUsage: null,
  SubjectKeyId: null,
  AuthorityKeyId: null,
  OCSPServer: null,
  IssuingCertificateURL: null,
  CRLDistributionPoints: null,
  PolicyIdentifiers: null,
  Policies: null,
  PolicyMappings: null,
  PermittedDNSDomainsCritical: false,
  PermittedDNSDomains: null,
  ExcludedDNSDomains: null,
  PermittedIPRanges: null,
  ExcludedIPRanges: null,
  PermittedEmailAddresses: null,
  ExcludedEmailAddresses: null,
  PermittedURIDomains: null,
  ExcludedURIDomains: null,
  InhibitAnyPolicy: 0,
  InhibitAnyPolicyZero: false,
  InhibitPolicyMapping: 0,
  InhibitPolicyMappingZero: false,
  RequireExplicitPolicy: 0,
  RequireExplicitPolicyZero: false,
  ExtraExtensions: null,
};

const readers: ReadonlyMap<string, (value: Uint8Array) => JsonObject> = new Map<
  string,
  (value: Uint8Array) => JsonObject
>([
  ['2.5.29.14', (value) => ({ SubjectKeyId: encodeBase64(child(readDer(value), 0).content) })],
  ['2.5.29.15', (value) => ({ KeyUsage: readKeyUsage(value) })],
  ['2.5.29.17', readAlternativeNames],
  ['2.5.29.19', readBasicConstraints],
  ['2.5.29.31', (value) => ({ CRLDistributionPoints: readDistributionPoints(value) })],
  ['2.5.29.32', readPolicies],
  ['2.5.29.35', readAuthorityKeyId],
  ['2.5.29.37', readExtendedKeyUsage],
  ['1.3.6.1.5.5.7.1.1', readAuthorityAccess],
]);

function readAuthorityKeyId(value: Uint8Array): JsonObject {
  const id = children(child(readDer(value), 0)).find((part) => part.tag === contextTag(0, false));
  return { AuthorityKeyId: id === undefined ? null : encodeBase64(id.content) };
}

function describeExtensions(extensions: readonly Extension[]): JsonObject {
  const fields = extensions.map(({ oid, value }) => readers.get(oid.join('.'))?.(value) ?? {});
  const unhandled = extensions.filter(({ oid, critical }) => critical && !readers.has(oid.join('.')));
  return Object.assign({}, absent, readAlternativeNames(undefined), ...fields, {
    Extensions: extensions.length === 0 ? null : extensions.map(describeExtension),
    UnhandledCriticalExtensions: unhandled.length === 0 ? null : unhandled.map(({ oid }) => oid),
  }) as JsonObject;
}

const extensionRequest = '1.2.840.113549.1.9.14';

function readRequest(bytes: Uint8Array): JsonObject {
  const [body, algorithm, signature] = outerParts(bytes);
  const [version, subject, key, ...rest] = children(body);
  if (!version || !subject || !key) throw new Error('x509: malformed certificate request');
  const attributes = rest.filter((part) => part.tag === contextTag(0, true)).flatMap(children);
  const requested = attributes
    .map(children)
    .filter((parts) => readOid(child(parts, 0)).join('.') === extensionRequest);
  const extensions = requested
    .flatMap((parts) => children(child(parts, 1)))
    .flatMap(children)
    .map(readExtension);
  const names = extensions.find(({ oid }) => oid.join('.') === '2.5.29.17');
  return {
    Raw: encodeBase64(bytes),
    RawTBSCertificateRequest: encodeBase64(body.raw),
    ...keyAndSubject(key, subject),
    Version: Number(readInteger(version)),
    Signature: encodeBase64(readBits(signature)),
    SignatureAlgorithm: signatureAlgorithm(algorithm),
    Attributes: requested.length === 0 ? null : requested.map(describeAttribute),
    Extensions: extensions.length === 0 ? null : extensions.map(describeExtension),
    ExtraExtensions: null,
    ...readAlternativeNames(names?.value),
  };
}

function describeAttribute(parts: readonly Der[]): Json {
  return {
    Type: readOid(child(parts, 0)),
    Value: children(child(parts, 1)).map((sequence) =>
      children(sequence).map((extension) => {
        const [type, value] = children(extension);
        if (!type || !value) throw new Error('x509: malformed certificate request');
        const isFlag = value.tag === derTag.boolean;
        return { Type: readOid(type), Value: isFlag ? value.content[0] !== 0 : encodeBase64(value.content) };
      }),
    ),
  };
}
