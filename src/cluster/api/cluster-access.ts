import type { Agent } from 'node:http';

export interface AccessOptions {
  /** A kubeconfig file. Default: `$KUBECONFIG`, then the Pod's service account, then `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** How long an exec plugin of the kubeconfig may take. */
  readonly pluginTimeoutMs?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** How to connect and authenticate to an API server. */
export interface ClusterAccess {
  /** `https://host:port`, with a path if the API server is served below one. */
  readonly server: string;
  /** The namespace of the Pod; undefined outside a cluster. */
  readonly namespace: string | undefined;
  /** Called for each request, because tokens and certificates are renewed. Pass settings that the API server answered with 401 to load them again. */
  settings(rejected?: ConnectionSettings): Promise<ConnectionSettings>;
  /** Closes idle connections. */
  close(): void;
}

export interface ConnectionSettings {
  /** Holds the TLS options and the proxy; the same agent as long as these do not change. */
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
}
