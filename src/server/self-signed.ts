import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { provideReflectMetadata } from './reflect-metadata.ts';

export interface SelfSigned {
  /** PEM of the authority: what callers are to trust. */
  readonly ca: string;
  /** PEM of the serving certificate. */
  readonly cert: string;
  /** PEM of its key. */
  readonly key: string;
}

export interface SelfSignedOptions {
  /** Host names and addresses that callers use. */
  readonly names: readonly string[];
  readonly now: Date;
  readonly days: number;
  /** What it is shown for; `server` unless given. */
  readonly usage?: 'server' | 'client';
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hour = 3_600_000;

/** An authority, used once and forgotten, and a serving certificate by it. ECDSA: an RSA key takes a third of a second. */
export async function makeSelfSigned({
  names,
  now,
  days,
  usage = 'server',
}: SelfSignedOptions): Promise<SelfSigned> {
  provideReflectMetadata();
  const x509 = await loadLibrary();
  const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const [caKeys, keys] = await Promise.all([newKeys(), newKeys()]);
  // Clocks of callers may be behind.
  const notBefore = new Date(now.getTime() - hour);
  const notAfter = new Date(now.getTime() + days * 24 * hour);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomBytes(16).toString('hex'),
    name: 'CN=kymera CA',
    notBefore,
    notAfter,
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: randomBytes(16).toString('hex'),
    subject: 'CN=kymera',
    issuer: ca.subject,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
      ]),
      new x509.SubjectAlternativeNameExtension(
        names.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return {
    ca: `${ca.toString('pem')}\n`,
    cert: `${certificate.toString('pem')}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${(pkcs8.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END PRIVATE KEY-----\n`,
  };
}

/** Lazily: it is needed once a year. Bundled, a CommonJS package is all in its default export. */
async function loadLibrary(): Promise<typeof import('@peculiar/x509')> {
  const library: { readonly default?: unknown } = await import('@peculiar/x509');
  return (library.default ?? library) as typeof import('@peculiar/x509');
}
