import { spawn } from 'node:child_process';
import type { PluginLimits } from '../build-context.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** A program to run once. */
export interface PluginCommand {
  /** What it is, for messages: `plugin /path/to/it`. */
  readonly title: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
}

export interface PluginResult {
  readonly exitCode: number;
  readonly output: string;
  /** What it printed on standard error, the end of it when it is long. */
  readonly messages: string;
}

const mostMessageBytes = 64 * 1024;

/**
 * Runs a plugin in a process group of its own, so that nothing it started outlives it. Throws when it cannot be started,
 * is killed, takes too long or prints too much.
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
    let trouble: KustomizeError | undefined;
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
      trouble ??= error;
      killGroup();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(
      () => stop(failed(command, `took longer than ${limits.milliseconds / 1000} s and was ended`, messages)),
      limits.milliseconds,
    );

    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.outputBytes) return stop(tooMuch(command, limits));
      output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      messages = Buffer.concat([messages, chunk]).subarray(-mostMessageBytes);
    });
    // A plugin need not read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(command.input);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(failed(command, `cannot be started: ${error.message}`, messages));
    });
    child.on('exit', () => {
      // What it left running may hold the pipes open.
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
      if (trouble !== undefined) return reject(trouble);
      if (code === null) return reject(failed(command, `was ended by ${signal ?? 'a signal'}`, messages));
      resolve({ exitCode: code, output: Buffer.concat(output).toString(), messages: messages.toString() });
    });
  });
}

/** An error that holds what the plugin said. */
export function pluginFailed(title: string, what: string, messages: string): KustomizeError {
  const said = messages.trim();
  return new KustomizeError('KYM_PLUGIN_FAILED', `${title} ${what}${said === '' ? '' : `: ${said}`}`);
}

function failed(command: PluginCommand, what: string, messages: Buffer): KustomizeError {
  return pluginFailed(command.title, what, messages.toString());
}

function tooMuch(command: PluginCommand, limits: PluginLimits): KustomizeError {
  const limit = Math.floor(limits.outputBytes / (1024 * 1024));
  return new KustomizeError(
    'KYM_PLUGIN_OUTPUT',
    `${command.title} printed more than ${limit} MiB and was ended`,
  );
}
