import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../src/json/value.ts';
import type { Kubectl } from './kubectl.ts';

/** Writes a kubeconfig with a token of a service account in kubectl's namespace. */
export async function tokenKubeconfig(kubectl: Kubectl, account: string, folder: string): Promise<string> {
  const token = await kubectl.ok('create', 'token', account, '--duration=2h');
  const view = await kubectl.ok('config', 'view', '--raw', '--minify', '--flatten', '-o', 'json');
  const config = JSON.parse(view) as JsonObject & { users: readonly { name: string }[] };
  const users = config.users.map(({ name }) => ({ name, user: { token: token.trim() } }));
  const path = join(folder, `${account}.kubeconfig`);
  writeFileSync(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
}

/** Moves the token of a kubeconfig to a file. */
export function withTokenFile(kubeconfig: string, tokenFile: string): void {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[];
  };
  writeToken(tokenFile, config.users[0]?.user.token ?? '');
  const users = config.users.map(({ name }) => ({ name, user: { tokenFile } }));
  writeFileSync(kubeconfig, JSON.stringify({ ...config, users }), { mode: 0o600 });
}

/** Replaces a token at once, as the kubelet does. */
export function writeToken(tokenFile: string, token: string): void {
  writeFileSync(`${tokenFile}.new`, token.trim(), { mode: 0o600 });
  renameSync(`${tokenFile}.new`, tokenFile);
}
