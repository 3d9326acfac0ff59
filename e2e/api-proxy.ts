import { type ChildProcess, spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import type { JsonObject } from '../src/json/value.ts';
import type { Settings } from './settings.ts';

export interface ApiProxy {
  /** Resolves with any response; `path` as in `kubectl get --raw`. */
  send(method: string, path: string, body?: JsonObject, contentType?: string): Promise<ApiAnswer>;
  close(): void;
}

export interface ApiAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the specs compare it with what they expect
  readonly body: any;
}

/** Calls the API server without starting a kubectl for each request. */
export async function openApiProxy(settings: Settings): Promise<ApiProxy> {
  const proxy = await startProxy(settings);
  const address = new URL(proxy.address);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    send: (method, path, body, contentType = 'application/json') =>
      new Promise((resolve, reject) => {
        const headers = body === undefined ? {} : { 'content-type': contentType };
        const call = request({ host: address.hostname, port: address.port, method, path, agent, headers });
        call.on('error', reject);
        call.on('response', (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response
            .on('error', reject)
            .on('end', () => resolve({ status: response.statusCode ?? 0, body: parsed(text) }));
        });
        call.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    close() {
      agent.destroy();
      proxy.stop();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Processes items in order, `width` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: width }, work));
}

/** `kubectl proxy`. */
export async function startProxy({
  kubectl,
  kubeconfig,
}: Pick<Settings, 'kubectl' | 'kubeconfig'>): Promise<{ readonly address: string; stop(): void }> {
  const proxy = spawn(kubectl, [`--kubeconfig=${kubeconfig}`, 'proxy', '--port=0'], {
    // It writes a line per failed request, and stands still when nobody reads them.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { address: await addressOf(proxy), stop: () => void proxy.kill() };
}

function addressOf(proxy: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    proxy.once('error', reject).once('exit', () => reject(new Error('kubectl proxy ended early')));
    proxy.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const found = /Starting to serve on (\S+)/.exec(text)?.[1];
      if (found) resolve(`http://${found}`);
    });
  });
}
