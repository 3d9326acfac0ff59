import { constants, X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';

export interface ServingCertificate {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

export interface TlsServerOptions {
  readonly certificate: ServingCertificate;
  /** PEM: the authority that signs client certificates. */
  readonly clientCa?: string | undefined;
  /** How long a request may take to arrive, body included. */
  readonly requestMilliseconds: number;
  readonly handshakeMilliseconds?: number | undefined;
}

const defaultHandshakeMilliseconds = 10_000;
const headersMilliseconds = 10_000;
/** Longer than an API server keeps an idle connection (90 s), so that it never reuses one that is being closed. */
const idleMilliseconds = 180_000;

export function createTlsServer(
  { certificate, clientCa, requestMilliseconds, handshakeMilliseconds }: TlsServerOptions,
  listener: RequestListener,
): Server {
  return createServer(
    {
      ...secureContextOf(certificate, clientCa),
      // The review handler refuses callers without a certificate. Health checks need none.
      ...(clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
      handshakeTimeout: handshakeMilliseconds ?? defaultHandshakeMilliseconds,
      headersTimeout: Math.min(headersMilliseconds, requestMilliseconds),
      requestTimeout: requestMilliseconds,
      keepAliveTimeout: idleMilliseconds,
      connectionsCheckingInterval: Math.min(1_000, requestMilliseconds / 2),
    },
    listener,
  );
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
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ca: clientCa,
  };
}

export function expiryOf({ cert }: ServingCertificate): Date {
  return new Date(new X509Certificate(cert).validTo);
}
