import { generateKeyPairSync, type webcrypto } from 'node:crypto';
import { provideReflectMetadata } from '../../src/cluster/certificates/reflect-metadata.ts';

provideReflectMetadata();
const x509 = await import('@peculiar/x509');

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
type Certificate = InstanceType<typeof x509.X509Certificate>;
const day = 24 * 60 * 60 * 1000;

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly name: string;
  readonly groups?: readonly string[];
  /** Given for a server certificate only. */
  readonly hosts?: readonly string[];
}

export interface Authority extends KeyPair {
  issue(subject: Subject): Promise<KeyPair>;
}

/** A CA for one run of the suite. */
export async function createAuthority(name: string): Promise<Authority> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return authority(certificate, keys.privateKey);
}

/** Loads a CA that another process created. */
export async function loadAuthority(pair: KeyPair): Promise<Authority> {
  const [pkcs8] = x509.PemConverter.decode(pair.key);
  if (!pkcs8) throw new Error('no private key in the text of the authority');
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']);
  return authority(new x509.X509Certificate(pair.certificate), key);
}

/** Service account tokens are signed with RSA, as in clusters of kubeadm. */
export function createSigningKey(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

async function authority(certificate: Certificate, key: webcrypto.CryptoKey): Promise<Authority> {
  return {
    certificate: certificate.toString('pem'),
    key: await privateKey(key),
    issue: (subject) => issue(certificate, key, subject),
  };
}

async function issue(
  issuer: Certificate,
  issuerKey: webcrypto.CryptoKey,
  subject: Subject,
): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const isServer = subject.hosts !== undefined;
  const usage = isServer ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [...(subject.groups ?? []).map((group) => ({ O: [group] })), { CN: [subject.name] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: issuerKey,
    signingAlgorithm: algorithm,
    ...validity(),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      ...(isServer ? [new x509.SubjectAlternativeNameExtension(subject.hosts.map(alternativeName))] : []),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await privateKey(keys.privateKey) };
}

function alternativeName(host: string): { type: 'ip' | 'dns'; value: string } {
  return { type: /^[\d.]+$/.test(host) ? 'ip' : 'dns', value: host };
}

/** Also for a client whose clock is a year off. */
function validity(): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - 400 * day), notAfter: new Date(now + 400 * day) };
}

async function privateKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
