import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { issueAuthority, issueServing, type KeyPair } from '../cluster/certificates/issuer.ts';

export interface SelfSigned {
  /** PEM of the authority that callers trust. */
  readonly ca: string;
  /** PEM of the serving certificate. */
  readonly cert: string;
  /** PEM of the key. */
  readonly key: string;
}

const validityDays = 365;
/** Users configure it in callers by hand, so it outlives many certificates. */
const authorityValidityDays = 3650;
const day = 86_400_000;

/**
 * Returns the self-signed certificate in a folder. Issues a new one when there is none, when at most a third of its validity is
 * left, or when it lacks one of the names. The authority stays the same, so that callers still trust the new certificate.
 */
export async function keepSelfSigned(
  folder: string,
  names: readonly string[],
  now = new Date(),
): Promise<SelfSigned> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [authority, serving] = [await readPair(folder, 'ca'), await readPair(folder, 'tls')];
  if (authority !== undefined && isAuthorityUsable(authority, now)) {
    const isKept = serving !== undefined && isServingUsable(serving, authority, names, now);
    return { ca: authority.cert, ...(isKept ? serving : await issueAndWrite(folder, authority, names, now)) };
  }
  const issued = await issueAuthority({ now, days: authorityValidityDays });
  await writePair(folder, 'ca', issued);
  return { ca: issued.cert, ...(await issueAndWrite(folder, issued, names, now)) };
}

async function issueAndWrite(
  folder: string,
  authority: KeyPair,
  names: readonly string[],
  now: Date,
): Promise<KeyPair> {
  const issued = await issueServing(authority, names, { now, days: validityDays });
  await writePair(folder, 'tls', issued);
  return issued;
}

async function readPair(folder: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [cert = '', key = ''] = await Promise.all(
      [`${name}.crt`, `${name}.key`].map((file) => readFile(join(folder, file), 'utf8')),
    );
    // Two processes may have written at the same time.
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the key last: a reader that finds the key also finds its certificate. */
async function writePair(folder: string, name: string, { cert, key }: KeyPair): Promise<void> {
  await writePrivately(join(folder, `${name}.crt`), cert);
  await writePrivately(join(folder, `${name}.key`), key);
}

/** A certificate that it signs now must not outlive the authority. */
function isAuthorityUsable({ cert }: KeyPair, now: Date): boolean {
  return daysLeft(new X509Certificate(cert), now) > validityDays;
}

function isServingUsable(serving: KeyPair, authority: KeyPair, names: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(serving.cert);
  return (
    daysLeft(certificate, now) > validityDays / 3 &&
    certificate.verify(new X509Certificate(authority.cert).publicKey) &&
    names.every((name) => {
      const found = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
      return found !== undefined;
    })
  );
}

function daysLeft(certificate: X509Certificate, now: Date): number {
  return (Date.parse(certificate.validTo) - now.getTime()) / day;
}

async function writePrivately(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.new`;
  await writeFile(temporary, text, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}
