import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AuthorityInfoAccessSyntax,
  AuthorityKeyIdentifier,
  BasicConstraints,
  CertificatePolicies,
  CRLDistributionPoints,
  ExtendedKeyUsage,
  type Extension,
  type GeneralName,
  KeyUsage,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
} from '@peculiar/asn1-x509';
import type { Json, JsonObject } from '../../../json/value.ts';
import { encodeBase64 } from '../base64.ts';
import { parseAddress } from '../ip-address.ts';

export const subjectAltName = '2.5.29.17';

/** The field values of Go's `x509.Certificate` for a certificate without extensions. */
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

type DescribeValue = (value: ArrayBuffer) => JsonObject;

const described: ReadonlyMap<string, DescribeValue> = new Map<string, DescribeValue>([
  ['2.5.29.14', (value) => ({ SubjectKeyId: base64(AsnConvert.parse(value, SubjectKeyIdentifier).buffer) })],
  ['2.5.29.15', (value) => ({ KeyUsage: AsnConvert.parse(value, KeyUsage).toNumber() })],
  [subjectAltName, alternativeNames],
  ['2.5.29.19', basicConstraints],
  ['2.5.29.31', distributionPoints],
  ['2.5.29.32', certificatePolicies],
  ['2.5.29.35', authorityKeyIdentifier],
  ['2.5.29.37', extendedKeyUsage],
  ['1.3.6.1.5.5.7.1.1', authorityAccess],
]);

/** The extension fields of Go's `x509.Certificate`. */
export function certificateExtensions(extensions: readonly Extension[]): JsonObject {
  const fields = extensions.map(({ extnID, extnValue }) => described.get(extnID)?.(extnValue.buffer) ?? {});
  const unhandled = extensions.filter(({ extnID, critical }) => critical && !described.has(extnID));
  return Object.assign({}, absent, alternativeNames(undefined), ...fields, {
    Extensions: orNull(extensions.map(describeExtension)),
    UnhandledCriticalExtensions: orNull(unhandled.map(({ extnID }) => oidNumbers(extnID))),
  }) as JsonObject;
}

export function describeExtension({ extnID, critical, extnValue }: Extension): JsonObject {
  return { Id: oidNumbers(extnID), Critical: critical, Value: base64(extnValue.buffer) };
}

/** Go prints an object identifier as a list of numbers. */
export function oidNumbers(oid: string): readonly number[] {
  return oid.split('.').map(Number);
}

export function base64(bytes: ArrayBuffer | Uint8Array): string {
  return encodeBase64(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
}

/** Go prints an empty slice that was never assigned as null. */
export function orNull(list: readonly Json[]): Json {
  return list.length === 0 ? null : list;
}

export function alternativeNames(value: ArrayBuffer | undefined): JsonObject {
  const names = value === undefined ? [] : [...AsnConvert.parse(value, SubjectAlternativeName)];
  const listOf = (read: (name: GeneralName) => Json | undefined): Json =>
    orNull(names.map(read).filter((name) => name !== undefined));
  return {
    DNSNames: listOf(({ dNSName }) => dNSName),
    EmailAddresses: listOf(({ rfc822Name }) => rfc822Name),
    IPAddresses: listOf(({ iPAddress }) =>
      iPAddress === undefined ? undefined : unmappedAddress(iPAddress),
    ),
    URIs: listOf(({ uniformResourceIdentifier: uri }) => (uri === undefined ? undefined : describeUrl(uri))),
  };
}

/** Go prints an IPv4 address that is mapped into IPv6 as IPv4. */
function unmappedAddress(text: string): string {
  if (!text.startsWith('::ffff:')) return text;
  return parseAddress(text)?.slice(12).join('.') ?? text;
}

/** The fields of Go's `url.URL`. */
function describeUrl(text: string): Json {
  const [, scheme = '', authority, path = '', query, fragment = ''] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  const opaque = scheme !== '' && authority === undefined && !path.startsWith('/');
  return {
    Scheme: scheme,
    Opaque: opaque ? path : '',
    User: null,
    Host: authority ?? '',
    Path: opaque ? '' : path,
    RawPath: '',
    OmitHost: false,
    ForceQuery: query === '',
    RawQuery: query ?? '',
    Fragment: fragment,
    RawFragment: '',
  };
}

function basicConstraints(value: ArrayBuffer): JsonObject {
  const { cA, pathLenConstraint = -1 } = AsnConvert.parse(value, BasicConstraints);
  return {
    BasicConstraintsValid: true,
    IsCA: cA,
    MaxPathLen: pathLenConstraint,
    MaxPathLenZero: pathLenConstraint === 0,
  };
}

/** The index is Go's constant, such as `ExtKeyUsageServerAuth`. */
const extendedUsages = [
  '2.5.29.37.0',
  ...Array.from({ length: 9 }, (_, index) => `1.3.6.1.5.5.7.3.${index + 1}`),
  '1.3.6.1.4.1.311.10.3.3',
  '2.16.840.1.113730.4.1',
  '1.3.6.1.4.1.311.2.1.22',
  '1.3.6.1.4.1.311.61.1.1',
];

function extendedKeyUsage(value: ArrayBuffer): JsonObject {
  const oids = [...AsnConvert.parse(value, ExtendedKeyUsage)];
  const known = oids.filter((oid) => extendedUsages.includes(oid));
  const unknown = oids.filter((oid) => !extendedUsages.includes(oid));
  return {
    ExtKeyUsage: orNull(known.map((oid) => extendedUsages.indexOf(oid))),
    UnknownExtKeyUsage: orNull(unknown.map(oidNumbers)),
  };
}

function distributionPoints(value: ArrayBuffer): JsonObject {
  const names = [...AsnConvert.parse(value, CRLDistributionPoints)].flatMap(
    ({ distributionPoint }) => distributionPoint?.fullName ?? [],
  );
  return { CRLDistributionPoints: orNull(uris(names)) };
}

function uris(names: readonly GeneralName[]): readonly string[] {
  return names.flatMap(({ uniformResourceIdentifier: uri }) => (uri === undefined ? [] : [uri]));
}

function certificatePolicies(value: ArrayBuffer): JsonObject {
  const oids = [...AsnConvert.parse(value, CertificatePolicies)].map(
    ({ policyIdentifier }) => policyIdentifier,
  );
  return { PolicyIdentifiers: oids.map(oidNumbers), Policies: oids };
}

function authorityKeyIdentifier(value: ArrayBuffer): JsonObject {
  const { keyIdentifier } = AsnConvert.parse(value, AuthorityKeyIdentifier);
  return { AuthorityKeyId: keyIdentifier === undefined ? null : base64(keyIdentifier.buffer) };
}

function authorityAccess(value: ArrayBuffer): JsonObject {
  const entries = [...AsnConvert.parse(value, AuthorityInfoAccessSyntax)];
  const locations = (method: string): Json =>
    orNull(
      uris(
        entries
          .filter(({ accessMethod }) => accessMethod === method)
          .map(({ accessLocation }) => accessLocation),
      ),
    );
  return {
    OCSPServer: locations('1.3.6.1.5.5.7.48.1'),
    IssuingCertificateURL: locations('1.3.6.1.5.5.7.48.2'),
  };
}
