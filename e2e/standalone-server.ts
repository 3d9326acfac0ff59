import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../src/json/value.ts';
import { freePorts } from './control-plane/processes.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import type { Settings } from './settings.ts';
import { waitFor } from './wait-for.ts';

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
  const server = await startServerProcess({
    host: settings.host,
    port,
    args: ['--policies', join(folder, 'policies'), '--state-dir', join(folder, 'state')],
    logFile: join(folder, 'server.log'),
  });
  return {
    ...server,
    configuration: await printedConfiguration(server),
    writePolicies,
    remove: async () => {
      await server.stop();
      if (settings.controlPlane === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server may be ready before it has printed everything. */
function printedConfiguration(server: ServerProcess): Promise<string> {
  const text = /^apiVersion: admissionregistration\.k8s\.io\/v1\n.*?(?=^END$)/ms;
  return waitFor(() => text.exec(server.output())?.[0], { what: 'a webhook configuration on the screen' });
}
