import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { issueAuthority, issueServing, type KeyPair } from '../cluster/certificates/issuer.ts';

export interface SelfSigned {
  /** PEM of the authority: what callers are to trust. */
  readonly ca: string;
  /** PEM of the serving certificate. */
  readonly cert: string;
  /** PEM of its key. */
  readonly key: string;
}

const lifeInDays = 365;
/** Callers are told of it once, by hand: it outlives many certificates. */
const authorityLifeInDays = 3650;
const day = 86_400_000;

/**
 * The self-signed certificate kept in a folder; a new one when there is none, when a third of its life is left at most, or
 * when it lacks one of the names. It is signed by the same authority as the one before, so that whoever trusts that
 * goes on to.
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
    return { ca: authority.cert, ...(isKept ? serving : await makeServing(folder, authority, names, now)) };
  }
  const made = await issueAuthority({ now, days: authorityLifeInDays });
  await writePair(folder, 'ca', made);
  return { ca: made.cert, ...(await makeServing(folder, made, names, now)) };
}

async function makeServing(
  folder: string,
  authority: KeyPair,
  names: readonly string[],
  now: Date,
): Promise<KeyPair> {
  const made = await issueServing(authority, names, { now, days: lifeInDays });
  await writePair(folder, 'tls', made);
  return made;
}

async function readPair(folder: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [cert = '', key = ''] = await Promise.all(
      [`${name}.crt`, `${name}.key`].map((file) => readFile(join(folder, file), 'utf8')),
    );
    // Two processes may have written at a time.
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : undefined;
  } catch {
    return undefined;
  }
}

/** The key last: who finds it finds the certificate that belongs to it. */
async function writePair(folder: string, name: string, { cert, key }: KeyPair): Promise<void> {
  await writePrivately(join(folder, `${name}.crt`), cert);
  await writePrivately(join(folder, `${name}.key`), key);
}

/** A certificate that it signs now must not outlive it. */
function isAuthorityUsable({ cert }: KeyPair, now: Date): boolean {
  return daysLeft(new X509Certificate(cert), now) > lifeInDays;
}

function isServingUsable(serving: KeyPair, authority: KeyPair, names: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(serving.cert);
  return (
    daysLeft(certificate, now) > lifeInDays / 3 &&
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
