import { child, children, contextTag, type Der, readOid } from './der.ts';

/** Go's numbers for signature algorithms; 0 is unknown. */
const algorithms: ReadonlyMap<string, number> = new Map([
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

export function signatureAlgorithm(identifier: Der): number {
  const parts = children(identifier);
  const oid = readOid(child(parts, 0)).join('.');
  if (oid !== rsaPss) return algorithms.get(oid) ?? 0;
  const hash = parts[1] && children(parts[1]).find((part) => part.tag === contextTag(0, true));
  if (hash === undefined) return 0;
  return pssByHash.get(readOid(child(children(child(children(hash), 0)), 0)).join('.')) ?? 0;
}
