import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createSigningKey, loadAuthority } from './control-plane/certificates.ts';

export interface OidcIssuer {
  readonly url: string;
  /** Flags of the API server that trust the issuer; user names get the prefix `oidc:`. */
  readonly apiServerArguments: readonly string[];
  /** A signed ID token for a user, which expires after so many seconds. */
  token(user: string, seconds: number): string;
  close(): Promise<void>;
}

const clientId = 'kymera-e2e';

/** An OpenID Connect issuer on loopback, with a certificate of the control plane's authority. */
export async function startOidcIssuer(controlPlane: string): Promise<OidcIssuer> {
  const file = (name: string) => join(controlPlane, name);
  const authority = await loadAuthority({
    certificate: readFileSync(file('ca.crt'), 'utf8'),
    key: readFileSync(file('ca.key'), 'utf8'),
  });
  const serving = await authority.issue({ name: 'oidc-issuer', hosts: ['127.0.0.1'] });
  const keys = createSigningKey();
  const publicKey = createPublicKey(keys.publicKey).export({ format: 'jwk' });
  const documents = new Map<string, () => object>([
    [
      '/.well-known/openid-configuration',
      () => ({
        issuer: url,
        jwks_uri: `${url}/keys`,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    ],
    ['/keys', () => ({ keys: [{ ...publicKey, kid: '1', alg: 'RS256', use: 'sig' }] })],
  ]);
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    const document = documents.get(request.url ?? '');
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    apiServerArguments: [
      `--oidc-issuer-url=${url}`,
      `--oidc-client-id=${clientId}`,
      `--oidc-ca-file=${file('ca.crt')}`,
      '--oidc-username-claim=sub',
      '--oidc-username-prefix=oidc:',
    ],
    token(user, seconds) {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: url, aud: clientId, sub: user, iat: now - 3600, exp: now + seconds };
      const encoded = [{ alg: 'RS256', kid: '1', typ: 'JWT' }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      const signature = sign('sha256', Buffer.from(encoded), createPrivateKey(keys.privateKey));
      return `${encoded}.${signature.toString('base64url')}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
