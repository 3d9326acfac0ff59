/** How to reach an API server and sign in. */
export interface ClusterAccess {
  /** `https://host:port`, with a path when the API server stands behind one. */
  readonly server: string;
  readonly tls: ServerTrust;
  /** The namespace of the pod; undefined outside a cluster. */
  readonly namespace: string | undefined;
  /** Asked for every request: tokens are renewed by others. */
  credentials(): Promise<Credentials>;
}

export interface ServerTrust {
  readonly ca?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Credentials {
  /** The Authorization header. */
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}
