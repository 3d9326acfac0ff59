import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { certificatesOf, issueAuthority, issueServing, type KeyPair } from './issuer.ts';

/** The content of the two Secrets. The first certificate of the authority is the one that signs. */
export interface CertificateState {
  readonly authority?: KeyPair | undefined;
  readonly serving?: KeyPair | undefined;
  /** PEM of CAs that callers still trust although the Secret was deleted. */
  readonly trusted?: string | undefined;
}

/** The result of a renewal. */
export interface RenewedCertificates {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
}

export interface CertificateLife {
  readonly authorityDays: number;
  readonly servingDays: number;
}

export const defaultLife: CertificateLife = { authorityDays: 365, servingDays: 150 };

export interface CertificatePlan {
  readonly renewAuthority: boolean;
  readonly renewServing: boolean;
}

/**
 * Both are renewed after two thirds of their lifetime. A new CA is distributed first, and signs only in a later round,
 * unless there is no usable serving certificate.
 */
export function planRenewal(state: CertificateState, names: readonly string[], now: Date): CertificatePlan {
  const authority = certificatesOf(state.authority?.cert ?? '');
  const serving = certificatesOf(state.serving?.cert ?? '')[0];
  const known = [...authority, ...certificatesOf(state.trusted ?? '')];
  const trusted = serving !== undefined && known.some((each) => isIssuedBy(serving, each, now));
  const usable = trusted && isValid(serving, now) && covers(serving, names);
  const renewAuthority = authority[0] === undefined || isDue(authority[0], now);
  return {
    renewAuthority,
    renewServing: !usable || (!renewAuthority && isDue(serving, now)),
  };
}

/** Carries out the plan. Old CAs stay trusted until they expire. */
export async function renew(
  state: CertificateState,
  plan: CertificatePlan,
  names: readonly string[],
  now: Date,
  life: CertificateLife = defaultLife,
): Promise<RenewedCertificates> {
  const authority =
    plan.renewAuthority || state.authority === undefined
      ? await successor(state.authority?.cert ?? state.trusted ?? '', now, life.authorityDays)
      : state.authority;
  const serving =
    plan.renewServing || state.serving === undefined
      ? await issueServing(authority, names, { now, days: life.servingDays })
      : state.serving;
  return { authority, serving };
}

async function successor(old: string, now: Date, days: number): Promise<KeyPair> {
  const made = await issueAuthority({ now, days });
  return { cert: made.cert + trustedPem(old, now), key: made.key };
}

/** The certificates of a bundle that have not expired. */
export function trustedPem(pem: string, now: Date): string {
  return certificatesOf(pem)
    .filter((certificate) => isValid(certificate, now))
    .map((certificate) => certificate.toString())
    .join('');
}

function isDue(certificate: X509Certificate, now: Date): boolean {
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  return now.getTime() >= from + ((to - from) * 2) / 3;
}

function isValid(certificate: X509Certificate, now: Date): boolean {
  return now.getTime() < Date.parse(certificate.validTo);
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate, now: Date): boolean {
  return (
    isValid(authority, now) && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  );
}

function covers(certificate: X509Certificate, names: readonly string[]): boolean {
  return names.every((name) => {
    const found =
      isIP(name) === 0 ? certificate.checkHost(name, { subject: 'never' }) : certificate.checkIP(name);
    return found !== undefined;
  });
}
