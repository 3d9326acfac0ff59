import { join } from 'node:path';

/** The audit log with the requests of the installation's service accounts. */
export const auditLogName = 'audit.log';

/** Metadata of the requests of service accounts in the installation's namespace. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts:kymera'] }, { level: 'None' }],
};

export function etcdArguments(folder: string, clientPort: number, peerPort: number): string[] {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // The data need not survive a crash.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export function apiServerArguments(folder: string, port: number, etcdPort: number): string[] {
  const file = (name: string) => join(folder, name);
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    `--tls-cert-file=${file('apiserver.crt')}`,
    `--tls-private-key-file=${file('apiserver.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-account.pub')}`,
    `--service-account-signing-key-file=${file('service-account.key')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--endpoint-reconciler-type=none',
    '--shutdown-delay-duration=0s',
    // There is no kube-proxy, so the API server resolves Services of webhooks to endpoints.
    '--enable-aggregator-routing=true',
    `--audit-policy-file=${file('audit-policy.yaml')}`,
    `--audit-log-path=${file(auditLogName)}`,
  ];
}

export function controllerManagerArguments(folder: string, port: number, kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${join(folder, 'service-account.key')}`,
    `--root-ca-file=${join(folder, 'ca.crt')}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
  ];
}
