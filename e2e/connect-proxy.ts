import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ConnectProxy {
  readonly url: string;
  /** The `host:port` of each tunnel so far. */
  targets(): readonly string[];
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('connect-proxy.mjs', import.meta.url));
/** The API server's certificate is valid for this name, which does not resolve: only a proxy reaches it. */
const unresolvable = 'kubernetes.default.svc';

/** Starts an HTTP CONNECT proxy as a process of its own; every tunnel leads to the API server. */
export async function startConnectProxy(server: URL): Promise<ConnectProxy> {
  const child = spawn(process.execPath, [program, `${server.hostname}:${server.port || 443}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const targets: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the proxy ended early')));
    createInterface(child.stdout).on('line', (line) => {
      const message = JSON.parse(line) as { port?: number; target?: string };
      if (message.port !== undefined) resolve(message.port);
      if (message.target !== undefined) targets.push(message.target);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    targets: () => targets,
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** Writes a copy of a kubeconfig whose server can be reached only through the proxy. */
export function throughProxy(kubeconfig: string, proxy: ConnectProxy): string {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: readonly { cluster: object }[];
  };
  const clusters = config.clusters.map((entry) => ({
    ...entry,
    cluster: { ...entry.cluster, server: `https://${unresolvable}:6443`, 'proxy-url': proxy.url },
  }));
  const path = `${kubeconfig}.proxied`;
  writeFileSync(path, JSON.stringify({ ...config, clusters }), { mode: 0o600 });
  return path;
}
