import { effect } from '@preact/signals';
import { emptyWorkspace, type SourceRole, type SourceText, type Workspace } from '../engine/workspace.ts';
import { changedSources } from './changed-sources.ts';
import { openWorkspace, replaceSources, workspace } from './playground.ts';
import { sessionMessage } from './session-message.ts';
import { starterWorkspace } from './starter.ts';

/** The files of `kymera playground`. */
interface SessionState extends Readonly<Record<SourceRole, readonly SourceText[]>> {
  readonly version: number;
  readonly writable: boolean;
  /** The folder of `files` to build. */
  readonly folder?: string | undefined;
}

const roles: readonly SourceRole[] = ['policies', 'resources', 'context', 'files'];
const saveAfterMilliseconds = 400;
const retryMilliseconds = 2_000;

/** Opens the files of the server and follows their changes. With `--write`, saves edits. */
export async function followSession(token: string): Promise<void> {
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(path, { ...init, headers });
    const body: unknown = await response.json();
    if (!response.ok) throw new Error((body as { error: string }).error);
    return body;
  };
  let disk = (await call('session')) as SessionState;
  const isEmpty = roles.every((role) => disk[role].length === 0);
  openWorkspace(isEmpty ? starterWorkspace : { ...emptyWorkspace, ...pick(disk) });
  if (isEmpty) return;
  sessionMessage.value = {
    text: disk.writable ? 'Edits are saved to your files.' : 'Your files. Edits stay in the page.',
    isBad: false,
  };

  if (disk.writable) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    effect(() => {
      const current = workspace.value;
      clearTimeout(timer);
      timer = setTimeout(() => void save(current), saveAfterMilliseconds);
    });
  }
  async function save(current: Workspace): Promise<void> {
    for (const role of roles) {
      for (const { name, text } of current[role]) {
        const before = disk[role].find((file) => file.name === name)?.text;
        if (before === undefined || before === text) continue;
        try {
          await call('session/file', { method: 'PUT', body: JSON.stringify({ role, name, before, text }) });
          disk = { ...disk, [role]: disk[role].map((file) => (file.name === name ? { name, text } : file)) };
          sessionMessage.value = { text: `Saved ${name}.`, isBad: false };
        } catch (error) {
          sessionMessage.value = {
            text: error instanceof Error ? error.message : String(error),
            isBad: true,
          };
        }
      }
    }
  }

  for (;;) {
    try {
      const next = (await call(`session/changes?since=${disk.version}`)) as SessionState;
      const previous = disk;
      disk = next;
      if (next.version === previous.version) continue;
      const { folder } = next;
      replaceSources({
        ...changedSources(previous, next, workspace.value),
        ...(folder === previous.folder ? {} : { folder }),
      });
    } catch (error) {
      sessionMessage.value = { text: `The files cannot be read: ${String(error)}`, isBad: true };
      await new Promise((wake) => setTimeout(wake, retryMilliseconds));
    }
  }
}

function pick({ policies, resources, context, files, folder }: SessionState): Partial<Workspace> {
  return { policies, resources, context, files, folder };
}
