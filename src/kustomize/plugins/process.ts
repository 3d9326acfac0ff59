import { spawn } from 'node:child_process';
import type { PluginLimits } from '../build-context.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** One run of a plugin program. */
export interface PluginCommand {
  /** The name for messages: `the plugin /path/to/it`. */
  readonly title: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  /** Receives what a successful plugin wrote to standard error. */
  show(text: string): void;
}

export interface PluginResult {
  readonly exitCode: number;
  readonly output: string;
  /** The end of its standard error. */
  readonly messages: string;
}

const maxMessageBytes = 64 * 1024;

/**
 * Runs a plugin in its own process group, so that none of its processes outlives it. Throws if it cannot be started, is
 * killed, takes too long or prints too much.
 */
export async function runPlugin(command: PluginCommand, limits: PluginLimits): Promise<PluginResult> {
  return await new Promise((resolve, reject) => {
    const child = spawn(command.path, command.args, {
      cwd: command.folder,
      env: { ...command.environment },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output: Buffer[] = [];
    let messages = Buffer.alloc(0);
    let size = 0;
    let failure: KustomizeError | undefined;
    let lingering: NodeJS.Timeout | undefined;

    const killGroup = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has ended already.
      }
    };
    const stop = (error: KustomizeError) => {
      failure ??= error;
      killGroup();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(
      () =>
        stop(failed(command, `took longer than ${limits.milliseconds / 1000} s and was killed`, messages)),
      limits.milliseconds,
    );

    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.outputBytes) return stop(tooMuch(command, limits));
      output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      messages = Buffer.concat([messages, chunk]).subarray(-maxMessageBytes);
    });
    // A plugin need not read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(command.input);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(failed(command, `cannot be started: ${error.message}`, messages));
    });
    child.on('exit', () => {
      // Remaining child processes may keep the pipes open.
      lingering = setTimeout(() => {
        killGroup();
        child.stdout.destroy();
        child.stderr.destroy();
      }, 500);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      clearTimeout(lingering);
      killGroup();
      if (failure !== undefined) return reject(failure);
      if (code === null) return reject(failed(command, `was killed by ${signal ?? 'a signal'}`, messages));
      const said = messages.toString().trim();
      if (code === 0 && said !== '') command.show(`${command.title}: ${said}`);
      resolve({ exitCode: code, output: Buffer.concat(output).toString(), messages: messages.toString() });
    });
  });
}

/** An error with the standard error of the plugin. */
export function pluginFailed(title: string, what: string, messages: string): KustomizeError {
  const output = messages.trim();
  return new KustomizeError('KYM_PLUGIN_FAILED', `${title} ${what}${output === '' ? '' : `: ${output}`}`);
}

function failed(command: PluginCommand, what: string, messages: Buffer): KustomizeError {
  return pluginFailed(command.title, what, messages.toString());
}

function tooMuch(command: PluginCommand, limits: PluginLimits): KustomizeError {
  const limit = Math.floor(limits.outputBytes / (1024 * 1024));
  return new KustomizeError(
    'KYM_PLUGIN_OUTPUT',
    `${command.title} printed more than ${limit} MiB and was killed`,
  );
}
