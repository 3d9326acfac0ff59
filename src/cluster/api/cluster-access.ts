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
  readonly ca?: string | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface Credentials {
  /** The Authorization header. */
  readonly authorization?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}
