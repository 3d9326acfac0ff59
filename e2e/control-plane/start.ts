import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GiveUp, waitFor } from '../wait-for.ts';
import { createAuthority, createSigningKey } from './certificates.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { freePorts, isRunning, lastLines, launch, terminate } from './processes.ts';
import {
  apiServerArguments,
  auditPolicy,
  controllerManagerArguments,
  etcdArguments,
} from './program-arguments.ts';
import { hasDefaultServiceAccount, isReady } from './readiness.ts';
import {
  type ControlPlaneState,
  type ProgramName,
  type RunningProgram,
  readState,
  writeState,
} from './state.ts';

export type Binaries = Readonly<Record<ProgramName | 'kubectl', string>>;

const watchdog = fileURLToPath(new URL('watchdog.mjs', import.meta.url));

/** Starts etcd, the API server and the controller manager on free loopback ports, and waits until Pods can be created. */
export async function startControlPlane(binaries: Binaries): Promise<ControlPlaneState> {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-e2e-'));
  const [etcdPort = 0, peerPort = 0, apiPort = 0, controllerPort = 0] = await freePorts(4);
  const server = `https://127.0.0.1:${apiPort}`;
  const kubeconfigs = await writeCredentials(folder, server);
  launch({
    command: process.execPath,
    args: [watchdog, folder, String(process.pid)],
    logFile: join(folder, 'watchdog.log'),
  });
  let state = writeState({
    folder,
    server,
    kubectl: binaries.kubectl,
    kubeconfig: kubeconfigs.admin,
    programs: {},
  });
  const start = (name: ProgramName, args: readonly string[]) => {
    const program = { command: binaries[name], args, logFile: join(folder, `${name}.log`) };
    const programs = { ...state.programs, [name]: { ...program, pid: launch(program) } };
    state = writeState({ ...state, programs });
  };
  try {
    start('etcd', etcdArguments(folder, etcdPort, peerPort));
    start('kube-apiserver', apiServerArguments(folder, apiPort, etcdPort));
    await becomesReady(state);
    start('kube-controller-manager', controllerManagerArguments(folder, controllerPort, kubeconfigs.manager));
    await waitFor(() => failIfEnded(state) ?? hasDefaultServiceAccount(state), {
      what: 'the default service account',
    });
    return state;
  } catch (error) {
    await stopControlPlane(folder, { keepLogs: true });
    throw error;
  }
}

/** Stops the API server and starts it again on the same port, with the same data, and with further flags if given. */
export function restartApiServer(folder: string, downMs = 0, flags: readonly string[] = []): Promise<void> {
  return restartProgram(folder, 'kube-apiserver', 'SIGTERM', downMs, flags);
}

/** Ends one program by a signal and starts it again, on the same port and with the same data. */
export async function restartProgram(
  folder: string,
  name: ProgramName,
  signal: 'SIGTERM' | 'SIGKILL',
  downMs = 0,
  flags: readonly string[] = [],
): Promise<void> {
  const state = readState(folder);
  const running = state.programs[name];
  if (!running) throw new Error(`there is no ${name} to restart`);
  if (signal === 'SIGKILL') process.kill(running.pid, signal);
  // A stopping API server waits up to a minute for its watches to end.
  else await terminate(running.pid, 3_000);
  await new Promise((resolve) => setTimeout(resolve, downMs));
  const restarted: RunningProgram = {
    ...running,
    pid: launch({ ...running, args: [...running.args, ...flags] }),
  };
  await becomesReady(writeState({ ...state, programs: { ...state.programs, [name]: restarted } }));
}

/** Stops etcd and the API server, changes the data of etcd, and starts them again. */
export async function restartPrograms(folder: string, change: () => void): Promise<void> {
  let state = readState(folder);
  const names = ['kube-apiserver', 'etcd'] as const;
  for (const name of names) await terminate(state.programs[name]?.pid ?? 0, 5_000);
  change();
  for (const name of names.toReversed()) {
    const program = state.programs[name];
    if (program === undefined) continue;
    state = writeState({
      ...state,
      programs: { ...state.programs, [name]: { ...program, pid: launch(program) } },
    });
  }
  await becomesReady(state);
}

/** Stops all programs by their process ids, etcd last, and removes the folder. */
export async function stopControlPlane(folder: string, options: { keepLogs: boolean }): Promise<void> {
  const { programs } = readState(folder);
  for (const name of ['kube-controller-manager', 'kube-apiserver', 'etcd'] as const) {
    const running = programs[name];
    if (running) await terminate(running.pid, 5_000);
  }
  if (!options.keepLogs) return rmSync(folder, { recursive: true, force: true });
  // For the watchdog.
  writeFileSync(join(folder, 'keep'), '');
  console.error(`The logs of the control plane are kept in ${folder}`);
}

async function becomesReady(state: ControlPlaneState): Promise<void> {
  await waitFor(() => failIfEnded(state) ?? isReady(state), {
    what: 'the API server to be ready',
  });
}

/** Stops waiting when a program has ended. */
function failIfEnded(state: ControlPlaneState): undefined {
  for (const [name, program] of Object.entries(state.programs)) {
    if (isRunning(program.pid)) continue;
    throw new GiveUp(`${name} ended early:\n${lastLines(program.logFile)}`);
  }
  return undefined;
}

async function writeCredentials(folder: string, server: string): Promise<{ admin: string; manager: string }> {
  const authority = await createAuthority('kymera-e2e');
  const api = await authority.issue({
    name: 'kube-apiserver',
    hosts: [
      '127.0.0.1',
      'localhost',
      '10.0.0.1',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
    ],
  });
  const signing = createSigningKey();
  const write = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  write('ca.crt', authority.certificate);
  write('ca.key', authority.key);
  write('apiserver.crt', api.certificate);
  write('apiserver.key', api.key);
  write('service-account.key', signing.privateKey);
  write('service-account.pub', signing.publicKey);
  write('audit-policy.yaml', JSON.stringify(auditPolicy));
  mkdirSync(join(folder, 'etcd'), { mode: 0o700 });
  const admin = await authority.issue({ name: 'admin', groups: ['system:masters'] });
  const manager = await authority.issue({ name: 'system:kube-controller-manager' });
  return {
    admin: write('admin.kubeconfig', kubeconfigText(server, authority.certificate, admin)),
    manager: write('controller-manager.kubeconfig', kubeconfigText(server, authority.certificate, manager)),
  };
}
