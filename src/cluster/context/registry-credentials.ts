import { readObject, readText, readTextMap } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { RegistryLogin } from './registry-fetch.ts';

/** Registry credentials from Secrets with a docker configuration, in the server's namespace. */
export async function registryLogins(
  client: ApiClient,
  namespace: string,
  secrets: readonly string[],
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<ReadonlyMap<string, RegistryLogin>> {
  const logins = new Map<string, RegistryLogin>();
  for (const name of secrets) {
    const secret = await client.get(resourceTypes.secrets, { namespace, name }, { timeoutMs });
    for (const [host, login] of loginsOf(secret)) logins.set(host, login);
  }
  return logins;
}

export function loginsOf(secret: JsonObject): ReadonlyMap<string, RegistryLogin> {
  const encoded = readTextMap(secret, 'data')['.dockerconfigjson'] ?? '';
  const logins = new Map<string, RegistryLogin>();
  let configuration: Json;
  try {
    configuration = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as Json;
  } catch {
    return logins;
  }
  const auths = isObject(configuration) ? (readObject(configuration, 'auths') ?? {}) : {};
  for (const [address, entry] of Object.entries(auths)) {
    const host = address.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
    const login = isObject(entry) ? loginOf(entry) : undefined;
    if (login !== undefined) logins.set(host === 'index.docker.io' ? 'docker.io' : host, login);
  }
  return logins;
}

function loginOf(entry: JsonObject): RegistryLogin | undefined {
  const text = Buffer.from(readText(entry, 'auth') ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const username = readText(entry, 'username') ?? (colon < 0 ? undefined : text.slice(0, colon));
  const password = readText(entry, 'password') ?? (colon < 0 ? undefined : text.slice(colon + 1));
  return username === undefined || password === undefined ? undefined : { username, password };
}
