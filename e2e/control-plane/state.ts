import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './processes.ts';

export type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

export interface RunningProgram extends Program {
  readonly pid: number;
}

/** The state of a running control plane, in a file, so that every process of the suite can use, restart and stop it. */
export interface ControlPlaneState {
  readonly folder: string;
  /** The API server's address. */
  readonly server: string;
  readonly kubectl: string;
  /** The kubeconfig of an administrator. */
  readonly kubeconfig: string;
  readonly programs: Partial<Record<ProgramName, RunningProgram>>;
}

export function readState(folder: string): ControlPlaneState {
  return JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as ControlPlaneState;
}

export function writeState(state: ControlPlaneState): ControlPlaneState {
  writeFileSync(join(state.folder, 'state.json'), JSON.stringify(state, null, 2));
  return state;
}
