import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';

export interface ServingCertificate {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** TLS 1.2 with forward secrecy and authenticated encryption, or TLS 1.3. */
export function secureContextOf(
  { cert, key }: ServingCertificate,
  clientCa: string | undefined,
): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ciphers:
      'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
    ca: clientCa,
  };
}

export function expiryOf({ cert }: ServingCertificate): Date {
  return new Date(new X509Certificate(cert).validTo);
}
