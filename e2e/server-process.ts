import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { isRunning, lastLines, launch, terminate } from './control-plane/processes.ts';
import { program as built } from './kymera.ts';
import { GiveUp, waitFor } from './wait-for.ts';

export interface ServerProcess {
  readonly port: number;
  /** All output so far, including logs. */
  output(): string;
  /** Sends SIGTERM and waits, as the kubelet does. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): void;
  isRunning(): boolean;
}

export interface ServerProcessOptions {
  readonly host: string;
  readonly port: number;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Another build of kymera; by default that of this checkout. */
  readonly program?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Runs the built `kymera serve` until it is ready. */
export async function startServerProcess({
  host,
  port,
  args,
  logFile,
  program = built,
  environment = {},
}: ServerProcessOptions): Promise<ServerProcess> {
  const address = ['--host', host, '--port', String(port)];
  // Nothing watches endpoints here, so no shutdown delay is needed.
  const serve = [program, 'serve', ...address, '--shutdown-delay', '0', ...args];
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const pid = launch({ command: 'env', args: [...variables, process.execPath, ...serve], logFile });
  const output = () => readFileSync(logFile, 'utf8');
  try {
    await waitFor(
      () => {
        if (!isRunning(pid)) throw new GiveUp(`kymera serve ended early:\n${lastLines(logFile)}`);
        return isReady(host, port);
      },
      { what: 'kymera serve to be ready' },
    );
  } catch (error) {
    await terminate(pid);
    throw new Error(`${error instanceof Error ? error.message : error}\n${lastLines(logFile)}`);
  }
  const kill = () => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  };
  return { port, output, stop: () => terminate(pid, 20_000), kill, isRunning: () => isRunning(pid) };
}

function isReady(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host, port, path: '/readyz', rejectUnauthorized: false, agent: false, timeout: 2_000 };
    const asked = request(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
