import { mkdtempSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectProxy, throughProxy } from './connect-proxy.ts';
import { freePorts, isRunning, lastLines, launch, terminate } from './control-plane/processes.ts';
import { accountKubeconfig, ownNamespace } from './installation.ts';
import { program } from './kymera.ts';
import type { Settings } from './settings.ts';
import { GiveUp, waitFor } from './wait-for.ts';

export interface BackgroundProcess {
  output(): string;
  /** The response of `/metrics`. */
  metrics(): Promise<string>;
  /** Sends SIGTERM and waits. */
  stop(): Promise<void>;
  /** Sends SIGKILL, as if its node were lost. */
  kill(): void;
}

export interface BackgroundProcessOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Connects to the API server through this proxy. */
  readonly proxy?: ConnectProxy;
}

/** Runs the built `kymera background` as the service account of the chart; resolves when it is ready. */
export async function startBackgroundProcess(
  settings: Settings,
  { args = [], environment = {}, proxy }: BackgroundProcessOptions = {},
): Promise<BackgroundProcess> {
  const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'background-'));
  const logFile = join(folder, 'background.log');
  const account = await accountKubeconfig(settings, 'background', folder);
  const kubeconfig = proxy === undefined ? account : throughProxy(account, proxy);
  const [port = 0] = await freePorts(1);
  const command = [program, 'background', '--kubeconfig', kubeconfig, '--namespace', ownNamespace];
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const pid = launch({
    command: 'env',
    args: [...variables, process.execPath, ...command, '--metrics-port', String(port), ...args],
    logFile,
  });
  try {
    await waitFor(
      async () => {
        if (!isRunning(pid)) throw new GiveUp(`kymera background ended early:\n${lastLines(logFile)}`);
        return (await fetched(port, '/readyz')).startsWith('ok');
      },
      { what: 'kymera background to be ready' },
    );
  } catch (error) {
    await terminate(pid);
    throw new Error(`${error instanceof Error ? error.message : error}\n${lastLines(logFile)}`);
  }
  return {
    output: () => readFileSync(logFile, 'utf8'),
    metrics: () => fetched(port, '/metrics'),
    stop: () => terminate(pid, 20_000),
    kill: () => process.kill(pid, 'SIGKILL'),
  };
}

function fetched(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false, timeout: 5_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
