import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { Credentials } from './cluster-access.ts';
import { ClusterAccessError, messageOf } from './cluster-error.ts';

const renewBeforeMs = 60_000;
const pluginTimeoutMs = 60_000;

/** Credentials from a plugin (`exec` of a kubeconfig), asked again shortly before they end. */
export function createExecCredentials(
  exec: JsonObject,
  folder: string,
  server: string,
): () => Promise<Credentials> {
  let known: { readonly credentials: Credentials; readonly endsAt: number } | undefined;
  let pending: Promise<Credentials> | undefined;
  const renew = async (): Promise<Credentials> => {
    const status = readObject(await runPlugin(exec, folder, server), 'status') ?? {};
    const credentials = credentialsOf(status);
    const expiry = readText(status, 'expirationTimestamp');
    known = { credentials, endsAt: expiry === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiry) };
    return credentials;
  };
  return async () => {
    if (known !== undefined && Date.now() < known.endsAt - renewBeforeMs) return known.credentials;
    pending ??= renew().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

function credentialsOf(status: JsonObject): Credentials {
  const token = readText(status, 'token');
  const cert = readText(status, 'clientCertificateData');
  const key = readText(status, 'clientKeyData');
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    cert,
    key,
  };
}

async function runPlugin(exec: JsonObject, folder: string, server: string): Promise<JsonObject> {
  const command = readText(exec, 'command') ?? '';
  const apiVersion = readText(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1';
  const given = readObjects(exec, 'env').map((item) => [
    readText(item, 'name') ?? '',
    readText(item, 'value') ?? '',
  ]);
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, cluster: { server } } };
  const text = await capture(
    command.includes('/') ? resolve(folder, command) : command,
    readTexts(exec, 'args'),
    { ...process.env, ...Object.fromEntries(given), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  );
  try {
    const answer = JSON.parse(text) as Json;
    if (isObject(answer)) return answer;
  } catch {
    // Said below, without the text: it may hold a token.
  }
  throw new ClusterAccessError(`the credential plugin ${command} did not answer with JSON`);
}

function capture(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: pluginTimeoutMs,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.on('error', (error) =>
      fail(new ClusterAccessError(`the credential plugin cannot be run: ${messageOf(error)}`)),
    );
    child.on('close', (code) => {
      if (code === 0) done(output);
      else fail(new ClusterAccessError(`the credential plugin ${command} ended with ${code ?? 'a signal'}`));
    });
  });
}
