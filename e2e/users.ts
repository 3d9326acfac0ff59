import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAuthority, type Subject } from './control-plane/certificates.ts';
import { kubeconfigText } from './control-plane/kubeconfig.ts';
import { readState } from './control-plane/state.ts';
import type { Kubectl } from './kubectl.ts';
import type { Settings } from './settings.ts';

/** kubectl for another user: with a client certificate if we have the CA key, else by impersonation. */
export async function asUser(kubectl: Kubectl, settings: Settings, user: Subject): Promise<Kubectl> {
  if (settings.controlPlane !== undefined) {
    return kubectl.with(`--kubeconfig=${await createUser(settings.controlPlane, user)}`);
  }
  return kubectl.with(`--as=${user.name}`, ...(user.groups ?? []).map((group) => `--as-group=${group}`));
}

async function createUser(folder: string, user: Subject): Promise<string> {
  const certificate = readFileSync(join(folder, 'ca.crt'), 'utf8');
  const authority = await loadAuthority({ certificate, key: readFileSync(join(folder, 'ca.key'), 'utf8') });
  const path = join(folder, `user-${user.name.replaceAll(/\W/g, '-')}.kubeconfig`);
  writeFileSync(path, kubeconfigText(readState(folder).server, certificate, await authority.issue(user)));
  return path;
}
