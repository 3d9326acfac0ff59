import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ControlPlaneState } from './state.ts';

export function isReady(state: ControlPlaneState): Promise<boolean> {
  const ca = readFileSync(join(state.folder, 'ca.crt'));
  return new Promise((resolve) => {
    const request = get(`${state.server}/readyz`, { ca, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/** Pods are refused until the controller manager has created it. */
export async function hasDefaultServiceAccount(state: ControlPlaneState): Promise<boolean> {
  const args = [
    `--kubeconfig=${state.kubeconfig}`,
    'get',
    'serviceaccount',
    'default',
    '--namespace=default',
  ];
  await promisify(execFile)(state.kubectl, args, { timeout: 10_000 });
  return true;
}
