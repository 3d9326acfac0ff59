import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../src/json/value.ts';
import { freePorts } from './control-plane/processes.ts';
import { kymera } from './kymera.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import type { Settings } from './settings.ts';

export interface StandaloneServer extends ServerProcess {
  /** The MutatingWebhookConfiguration that it prints. */
  readonly configuration: string;
  /** Writes one of its policy files. */
  writePolicies(file: string, policies: readonly JsonObject[]): void;
  remove(): Promise<void>;
}

/** A server with policies from a folder, without access to the cluster. */
export async function startStandaloneServer(
  settings: Settings,
  policies: Readonly<Record<string, readonly JsonObject[]>>,
): Promise<StandaloneServer> {
  const folder = mkdtempSync(join(settings.controlPlane ?? tmpdir(), 'standalone-'));
  mkdirSync(join(folder, 'policies'));
  const writePolicies = (file: string, documents: readonly JsonObject[]) =>
    writeFileSync(
      join(folder, 'policies', file),
      documents.map((document) => JSON.stringify(document)).join('\n---\n'),
    );
  for (const [file, documents] of Object.entries(policies)) writePolicies(file, documents);
  const [port = 0] = await freePorts(1);
  const args = ['--policies', join(folder, 'policies'), '--state-dir', join(folder, 'state')];
  const server = await startServerProcess({
    host: settings.host,
    port,
    args,
    logFile: join(folder, 'server.log'),
  });
  return {
    ...server,
    configuration: await printedConfiguration(['--host', settings.host, '--port', String(port), ...args]),
    writePolicies,
    remove: async () => {
      await server.stop();
      if (settings.controlPlane === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function printedConfiguration(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await kymera('serve', ...args, '--print-webhook-configuration');
  if (!stdout.startsWith('apiVersion: admissionregistration.k8s.io/v1\n')) throw new Error(stderr);
  return stdout;
}
