import { webcrypto } from 'node:crypto';
import { issueAuthority, issueServing, type KeyPair } from '../../src/cluster/certificates/issuer.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A serving certificate of an authority of its own. */
export async function makeServing(
  names: readonly string[],
  days: number,
): Promise<KeyPair & { readonly ca: string }> {
  const validity = { now: new Date(), days };
  const authority = await issueAuthority(validity);
  return { ca: authority.cert, ...(await issueServing(authority, names, validity)) };
}

/** A certificate that a caller may show; it is its own authority. */
export async function makeClient(name: string): Promise<KeyPair> {
  // The issuer's module makes the library loadable.
  await issueAuthority({ now: new Date(), days: 1 });
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`,
  };
}
