import type { KeyPair } from './certificates.ts';

/** A kubeconfig with one user, as JSON, which is also YAML. */
export function kubeconfigText(server: string, authorityCertificate: string, user: KeyPair): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'e2e',
    contexts: [{ name: 'e2e', context: { cluster: 'e2e', user: 'e2e' } }],
    clusters: [
      { name: 'e2e', cluster: { server, 'certificate-authority-data': base64(authorityCertificate) } },
    ],
    users: [
      {
        name: 'e2e',
        user: {
          'client-certificate-data': base64(user.certificate),
          'client-key-data': base64(user.key),
        },
      },
    ],
  });
}
