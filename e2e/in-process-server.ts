import { request } from 'node:https';
import { type ClusterRuntime, startCluster } from '../src/cluster/runtime.ts';
import type { ClusterOptions } from '../src/cluster/settings/cluster-options.ts';
import type { Json } from '../src/json/value.ts';
import { type RunningServer, type ServerOptions, startServer } from '../src/server/server.ts';
import { freePorts } from './control-plane/processes.ts';
import { kymera } from './kymera.ts';
import type { Settings } from './settings.ts';

export interface InProcessServer {
  readonly runtime: ClusterRuntime;
  readonly server: RunningServer;
  /** Every log line, with its details. */
  readonly logged: readonly string[];
  post(path: string, body?: Json): Promise<{ readonly status: number; readonly body: string }>;
  uninstall(): Promise<void>;
}

export type Webhooks = NonNullable<ServerOptions['otherWebhooks']>;

/** A server in this process, for specs that need options which the command line does not have. */
export async function startInProcessServer(
  settings: Settings,
  options: Partial<ClusterOptions> = {},
  wrap: (webhooks: Webhooks) => Webhooks = (webhooks) => webhooks,
): Promise<InProcessServer> {
  const logged: string[] = [];
  const write = (details: object, message: string) =>
    void logged.push(`${message} ${JSON.stringify(details)}`);
  const log = {
    info: write,
    warn: write,
    error: write,
    infoText: (fields: string, message: string) => write(JSON.parse(`{${fields}}`), message),
    isLevelEnabled: () => true,
  };
  const { kubeconfig, host } = settings;
  const [port = 0] = await freePorts(1);
  const runtime = await startCluster({
    kubeconfig,
    webhook: { url: `https://${host}:${port}` },
    log,
    ...options,
  });
  const certificate = runtime.certificate();
  if (certificate === undefined) throw new Error('no certificate');
  const { triggers } = runtime;
  const server = await startServer({
    host,
    port,
    certificate,
    provider: runtime.provider,
    dataSource: runtime.dataSource,
    pathTokens: runtime.pathTokens,
    onAbandoned: () => runtime.reviewAbandoned(),
    log,
    otherWebhooks: wrap({
      policyvalidate: async (body) => JSON.stringify(await runtime.policyReviewer(body)),
      validate: async (body, scope, milliseconds) =>
        JSON.stringify(await triggers?.reviewer(body, scope, milliseconds)),
    }),
  });
  return {
    runtime,
    server,
    logged,
    post: (path, body) =>
      new Promise((resolve, reject) => {
        const target = { host, port, path, method: 'POST', rejectUnauthorized: false, agent: false };
        request({ ...target, headers: { 'content-type': 'application/json' } }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        })
          .on('error', reject)
          .end(body === undefined ? undefined : JSON.stringify(body));
      }),
    async uninstall() {
      await server.stop(0);
      await runtime.stop();
      await kymera('cleanup', '--all', '--kubeconfig', kubeconfig);
    },
  };
}
