import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './processes.ts';

export type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

export interface RunningProgram extends Program {
  readonly pid: number;
}

/** What is written down of a running control plane, so that any process of the suite can use it, restart parts of it, and end it. */
export interface ControlPlaneState {
  readonly folder: string;
  /** The API server's address. */
  readonly server: string;
  readonly kubectl: string;
  /** The administrator's. */
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
