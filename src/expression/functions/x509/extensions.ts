import type { Json, JsonObject } from '../../../json/value.ts';
import { encodeBase64 } from '../base64.ts';
import { formatAddress } from '../ip-address.ts';
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
  readText,
} from './der.ts';

export interface Extension {
  readonly oid: readonly number[];
  readonly critical: boolean;
  readonly value: Uint8Array;
}

export function readExtension(element: Der): Extension {
  const parts = children(element);
  const critical = child(parts, 1).tag === derTag.boolean && child(parts, 1).content[0] !== 0;
  return { oid: readOid(child(parts, 0)), critical, value: child(parts, parts.length - 1).content };
}

export function describeExtension({ oid, critical, value }: Extension): JsonObject {
  return { Id: oid, Critical: critical, Value: encodeBase64(value) };
}

const rfc822Name = contextTag(1, false);
const dnsName = contextTag(2, false);
const uri = contextTag(6, false);
const ipAddress = contextTag(7, false);

/** The four kinds of alternative names; a kind without names is null. */
export function readAlternativeNames(value: Uint8Array | undefined): JsonObject {
  const names = value === undefined ? [] : children(child(readDer(value), 0));
  const ofTag = (tag: number, read: (name: Der) => Json): Json => {
    const found = names.filter((name) => name.tag === tag).map(read);
    return found.length === 0 ? null : found;
  };
  return {
    DNSNames: ofTag(dnsName, readText),
    EmailAddresses: ofTag(rfc822Name, readText),
    IPAddresses: ofTag(ipAddress, (name) => formatAddress(name.content)),
    URIs: ofTag(uri, (name) => describeUrl(readText(name))),
  };
}

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

export function readKeyUsage(value: Uint8Array): number {
  const bits = readBits(child(readDer(value), 0));
  let usage = 0;
  for (let bit = 0; bit < 9; bit++) {
    if (((bits[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0) usage |= 1 << bit;
  }
  return usage;
}

export function readBasicConstraints(value: Uint8Array): JsonObject {
  const parts = children(child(readDer(value), 0));
  const isAuthority = parts[0]?.tag === derTag.boolean && parts[0].content[0] !== 0;
  const length = parts.find((part) => part.tag === derTag.integer);
  const pathLength = length === undefined ? -1 : Number(readInteger(length));
  return {
    BasicConstraintsValid: true,
    IsCA: isAuthority,
    MaxPathLen: pathLength,
    MaxPathLenZero: pathLength === 0,
  };
}

const extendedUsages = [
  '2.5.29.37.0',
  ...Array.from({ length: 9 }, (_, index) => `1.3.6.1.5.5.7.3.${index + 1}`),
  '1.3.6.1.4.1.311.10.3.3',
  '2.16.840.1.113730.4.1',
  '1.3.6.1.4.1.311.2.1.22',
  '1.3.6.1.4.1.311.61.1.1',
];

export function readExtendedKeyUsage(value: Uint8Array): JsonObject {
  const oids = children(child(readDer(value), 0)).map(readOid);
  const known = oids.map((oid) => extendedUsages.indexOf(oid.join('.')));
  const numbers = known.filter((index) => index >= 0);
  const others = oids.filter((_, index) => known[index] === -1);
  return {
    ExtKeyUsage: numbers.length === 0 ? null : numbers,
    UnknownExtKeyUsage: others.length === 0 ? null : others,
  };
}

/** The URIs of the distribution points of revocation lists. */
export function readDistributionPoints(value: Uint8Array): Json {
  const points = children(child(readDer(value), 0))
    .flatMap((point) => children(point).filter((part) => part.tag === contextTag(0, true)))
    .flatMap((name) => children(name).filter((part) => part.tag === contextTag(0, true)))
    .flatMap((names) => children(names).filter((part) => part.tag === uri));
  return points.length === 0 ? null : points.map(readText);
}

/** Where the issuer answers: revocation service and certificate. */
export function readAuthorityAccess(value: Uint8Array): JsonObject {
  const entries = children(child(readDer(value), 0)).map(children);
  const ofMethod = (method: string): Json => {
    const found = entries
      .filter((parts) => readOid(child(parts, 0)).join('.') === method && child(parts, 1).tag === uri)
      .map((parts) => readText(child(parts, 1)));
    return found.length === 0 ? null : found;
  };
  return {
    OCSPServer: ofMethod('1.3.6.1.5.5.7.48.1'),
    IssuingCertificateURL: ofMethod('1.3.6.1.5.5.7.48.2'),
  };
}

export function readPolicies(value: Uint8Array): JsonObject {
  const oids = children(child(readDer(value), 0)).map((policy) => readOid(child(children(policy), 0)));
  return { PolicyIdentifiers: oids, Policies: oids.map((oid) => oid.join('.')) };
}
