import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError } from '../../server/http-error.ts';
import { expandInputs } from '../input/input-paths.ts';
import { mayHoldPolicies } from '../input/policy-input.ts';
import { displayName } from '../input/text-input.ts';
import { type Fingerprint, fingerprint, isSame } from '../input/watch.ts';
import type { Io } from '../io.ts';
import { writeFiles } from '../output/result-output.ts';
import {
  findKustomizationFiles,
  type KustomizationFiles,
  readKustomizationFiles,
} from './kustomization-files.ts';

export interface SessionInput {
  readonly policies: readonly string[];
  readonly resource: readonly string[];
  readonly targetResource: readonly string[];
  /** A folder with a kustomization. */
  readonly kustomize?: string | undefined;
  /** Whether the page may save files. */
  readonly write: boolean;
}

export type SessionRole = 'policies' | 'resources' | 'context' | 'files';

export interface SessionFile {
  readonly name: string;
  readonly text: string;
}

export interface SessionState extends Readonly<Record<SessionRole, readonly SessionFile[]>> {
  /** Changes with each change on disk. */
  readonly version: number;
  readonly writable: boolean;
  /** The folder of `files` to build. */
  readonly folder?: string | undefined;
}

/** The files that a page shows. */
export interface Session {
  state(): SessionState;
  /** Resolves when the version differs, or after some seconds. */
  changed(version: number): Promise<SessionState>;
  /** Saves a file that was given on the command line, unless it changed since `before`. */
  save(role: SessionRole, name: string, before: string, text: string): Promise<void>;
  close(): void;
}

const pollMilliseconds = 300;
const longestWaitMilliseconds = 20_000;

export async function openSession(input: SessionInput, io: Io): Promise<Session> {
  const names = [...input.policies, ...input.resource, ...input.targetResource];
  const over = new AbortController();
  let waiting: (() => void)[] = [];
  let found = await findFiles(input, names, io);
  let state: SessionState = { ...(await readAll(input, found, io)), version: 1, writable: input.write };

  const notify = () => {
    for (const wake of waiting) wake();
    waiting = [];
  };
  async function refresh(): Promise<void> {
    // A folder may be gone for a moment, and a file may disappear between the two steps; the next round reads again.
    const now = await findFiles(input, names, io).catch(() => found);
    if (isSame(now.fingerprint, found.fingerprint)) return;
    found = now;
    const files = await readAll(input, now, io).catch(() => undefined);
    if (files === undefined) return;
    state = { ...state, ...files, version: state.version + 1 };
    notify();
  }
  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      await sleep(pollMilliseconds, undefined, { signal: over.signal }).catch(() => undefined);
      const hasFiles = names.length > 0 || input.kustomize !== undefined;
      if (hasFiles && !over.signal.aborted) await refresh();
    }
  }
  void watch();

  return {
    state: () => state,
    async changed(version) {
      if (version === state.version && !over.signal.aborted) {
        const timeout = new AbortController();
        await Promise.race([
          new Promise<void>((wake) => waiting.push(wake)),
          sleep(longestWaitMilliseconds, undefined, { signal: timeout.signal }).catch(() => undefined),
        ]);
        timeout.abort();
      }
      return state;
    },
    async save(role, name, before, text) {
      if (!input.write) throw new HttpError(403, 'the playground was started without --write');
      if (state[role].every((file) => file.name !== name)) {
        throw new HttpError(404, `${name} is not one of the files of this session`);
      }
      const file = role === 'files' ? join(found.kustomization?.root ?? '', name) : resolve(io.cwd, name);
      const current = await readFile(file, 'utf8').catch(() => undefined);
      if (current !== before) throw new HttpError(409, `${name} was changed on disk: it is not overwritten`);
      await writeFiles([{ file, text }], io);
      await refresh();
    },
    close() {
      over.abort();
      notify();
    },
  };
}

interface FoundFiles {
  readonly fingerprint: Fingerprint;
  readonly kustomization: KustomizationFiles | undefined;
}

async function findFiles({ kustomize }: SessionInput, names: readonly string[], io: Io): Promise<FoundFiles> {
  const named = await fingerprint(names, io);
  if (kustomize === undefined) return { fingerprint: named, kustomization: undefined };
  const kustomization = await findKustomizationFiles(kustomize, io);
  const used = [...kustomization.fingerprint].map(
    ([name, state]) => [join(kustomization.root, name), state] as const,
  );
  return { fingerprint: new Map([...named, ...used]), kustomization };
}

async function readAll(
  { policies, resource, targetResource }: SessionInput,
  { kustomization }: FoundFiles,
  io: Io,
): Promise<Pick<SessionState, SessionRole | 'folder'>> {
  return {
    policies: await readFiles(policies, io, true),
    resources: await readFiles(resource, io, false),
    context: await readFiles(targetResource, io, false),
    files: kustomization === undefined ? [] : await readKustomizationFiles(kustomization),
    folder: kustomization?.folder,
  };
}

async function readFiles(names: readonly string[], io: Io, isPolicies: boolean): Promise<SessionFile[]> {
  const files: SessionFile[] = [];
  for (const { file, discovered } of await expandInputs(names, io.cwd)) {
    const text = await readFile(resolve(io.cwd, file), 'utf8');
    // A folder of policies may contain other files.
    if (!isPolicies || !discovered || mayHoldPolicies(text)) files.push({ name: displayName(file), text });
  }
  return files;
}
