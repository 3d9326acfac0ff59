import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueAuthority, issueServing } from '../cluster/certificate-issuer.ts';

export interface SelfSigned {
  /** PEM of the authority: what callers are to trust. */
  readonly ca: string;
  /** PEM of the serving certificate. */
  readonly cert: string;
  /** PEM of its key. */
  readonly key: string;
}

const lifeInDays = 365;
const day = 86_400_000;

/**
 * The self-signed certificate kept in a folder; a new one when there is none, when a third of its life is left at most, or
 * when it lacks one of the names.
 */
export async function keepSelfSigned(
  folder: string,
  names: readonly string[],
  now = new Date(),
): Promise<SelfSigned> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = await readKept(folder);
  if (kept !== undefined && isUsable(kept, names, now)) return kept;
  const validity = { now, days: lifeInDays };
  // Used once and forgotten: its key is not kept.
  const authority = await issueAuthority(validity);
  const made = { ca: authority.cert, ...(await issueServing(authority, names, validity)) };
  // The key last: who finds it finds the certificates that belong to it.
  await writePrivately(join(folder, 'ca.crt'), made.ca);
  await writePrivately(join(folder, 'tls.crt'), made.cert);
  await writePrivately(join(folder, 'tls.key'), made.key);
  return made;
}

async function readKept(folder: string): Promise<SelfSigned | undefined> {
  try {
    const [ca, cert, key] = await Promise.all(
      ['ca.crt', 'tls.crt', 'tls.key'].map((name) => readFile(join(folder, name), 'utf8')),
    );
    if (ca === undefined || cert === undefined || key === undefined) return undefined;
    return { ca, cert, key };
  } catch {
    return undefined;
  }
}

function isUsable({ ca, cert, key }: SelfSigned, names: readonly string[], now: Date): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const left = new Date(certificate.validTo).getTime() - now.getTime();
    return (
      left > (lifeInDays / 3) * day &&
      certificate.verify(new X509Certificate(ca).publicKey) &&
      key.includes('PRIVATE KEY') &&
      names.every(
        (name) => certificate.checkHost(name) !== undefined || certificate.checkIP(name) !== undefined,
      )
    );
  } catch {
    return false;
  }
}

async function writePrivately(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.new`;
  await writeFile(temporary, text, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}
