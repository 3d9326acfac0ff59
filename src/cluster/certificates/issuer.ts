import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { provideReflectMetadata } from './reflect-metadata.ts';

/** PEM strings. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Validity {
  readonly now: Date;
  readonly days: number;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hour = 3_600_000;

/** Issues a CA. The key is ECDSA, because generating an RSA key blocks the event loop for a third of a second. */
export async function issueAuthority(validity: Validity): Promise<KeyPair> {
  const x509 = await library();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // Two CAs may be trusted at a time; different names let verifiers find the right one.
    name: `CN=kymera CA ${validity.now.toISOString().slice(0, 19).replaceAll(':', '-')}`,
    ...period(validity),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: await pemOf(keys.privateKey) };
}

/** Issues a serving certificate for host names and addresses. */
export async function issueServing(
  authority: KeyPair,
  names: readonly string[],
  validity: Validity,
): Promise<KeyPair> {
  const x509 = await library();
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.cert);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=kymera',
    issuer: issuer.subject,
    ...period(validity),
    publicKey: keys.publicKey,
    signingKey: await privateKeyOf(authority.key),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export()),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: await pemOf(keys.privateKey) };
}

/** The valid certificates of a PEM string, in order. */
export function certificatesOf(pem: string): readonly X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap((text) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      return [];
    }
  });
}

/** In a bundle the library is CommonJS, with its exports in `default`. */
async function library(): Promise<typeof import('@peculiar/x509')> {
  provideReflectMetadata();
  const loaded: { readonly default?: unknown } = await import('@peculiar/x509');
  return (loaded.default ?? loaded) as typeof import('@peculiar/x509');
}

function newKeys() {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function serialNumber(): string {
  // A serial number must be positive: clear the first bit.
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('hex');
}

/** Starts an hour ago, because clocks of callers may be slow. */
function period({ now, days }: Validity): { readonly notBefore: Date; readonly notAfter: Date } {
  return {
    notBefore: new Date(now.getTime() - hour),
    notAfter: new Date(now.getTime() + days * 24 * hour),
  };
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

function privateKeyOf(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
