import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../src/json/value.ts';
import type { Settings } from './settings.ts';
import { patienceSeconds, waitFor } from './wait-for.ts';

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Document = JsonObject | string;

export interface Kubectl {
  /** Resolves with any result. */
  run(args: readonly string[], options?: RunOptions): Promise<Answer>;
  /** Returns the output; rejects with kubectl's message. */
  ok(...args: string[]): Promise<string>;
  /** Sends documents (objects, or YAML strings) on standard input: `kubectl VERB -f - …`. */
  send(verb: string, documents: Document | readonly Document[], ...args: string[]): Promise<Answer>;
  sendOk(verb: string, documents: Document | readonly Document[], ...args: string[]): Promise<Answer>;
  get(kind: string, name: string): Promise<KubernetesObject>;
  list(kind: string, ...args: string[]): Promise<readonly KubernetesObject[]>;
  hasServiceAccount(): Promise<void>;
  /** A copy with further flags, which take precedence. */
  with(...flags: string[]): Kubectl;
}

export interface RunOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The fields of an object that the specs read. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the specs compare it with what they expect
  readonly [field: string]: any;
}

export function createKubectl(settings: Settings, namespace: string, flags: readonly string[] = []): Kubectl {
  const fixed = [
    `--kubeconfig=${settings.kubeconfig}`,
    `--cache-dir=${join(settings.controlPlane ?? tmpdir(), 'kubectl-cache')}`,
    `--namespace=${namespace}`,
    ...flags,
  ];
  const run = (args: readonly string[], runOptions: RunOptions = {}) =>
    capture(settings.kubectl, [...fixed, ...args], runOptions);
  const ok = async (...args: string[]) => succeeded(args, await run(args)).stdout;
  const send = (verb: string, documents: Document | readonly Document[], ...args: string[]) =>
    run([verb, '-f', '-', ...args], { input: inputOf(documents) });
  return {
    run,
    ok,
    send,
    sendOk: async (verb, documents, ...args) => succeeded([verb], await send(verb, documents, ...args)),
    get: async (kind, name) => JSON.parse(await ok('get', kind, name, '-o', 'json')),
    list: async (kind, ...args) => JSON.parse(await ok('get', kind, '-o', 'json', ...args)).items,
    hasServiceAccount: async () => {
      await waitFor(() => ok('get', 'serviceaccount', 'default'), { what: 'the default service account' });
    },
    with: (...more) => createKubectl(settings, namespace, [...flags, ...more]),
  };
}

function inputOf(documents: Document | readonly Document[]): string {
  const list = Array.isArray(documents) ? documents : [documents];
  return list
    .map((document) => (typeof document === 'string' ? document : JSON.stringify(document)))
    .join('\n---\n');
}

function succeeded(args: readonly string[], answer: Answer): Answer {
  if (answer.code === 0) return answer;
  throw new Error(`kubectl ${args.join(' ')} ended with ${answer.code}: ${answer.stderr}${answer.stdout}`);
}

function capture(command: string, args: readonly string[], options: RunOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: 'pipe',
      timeout: 2 * patienceSeconds * 1_000,
      env: { ...process.env, ...options.environment },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
    // kubectl may exit before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}
