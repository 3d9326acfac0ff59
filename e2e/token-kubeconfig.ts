import { writeFileSync } from 'node:fs';
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
