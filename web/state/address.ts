import { signal } from '@preact/signals';
import { emptyWorkspace } from '../engine/workspace.ts';
import { evaluate, openWorkspace, workspace } from './playground.ts';
import { decodeWorkspace, encodeWorkspace } from './share.ts';

/** Why the address could not be opened. */
export const addressError = signal<string | undefined>(undefined);

/** Opens what the fragment names: `#state=…`, `#example=…`, the files of `#session=…`, or the server with `#live`. Otherwise evaluates the starter. */
export async function openFromAddress(): Promise<void> {
  addEventListener('hashchange', () => void open());
  const session = new URLSearchParams(location.hash.slice(1)).get('session');
  if (session !== null) {
    const { followSession } = await import('./session.ts');
    return followSession(session).catch((error: unknown) => {
      addressError.value = error instanceof Error ? error.message : String(error);
      void evaluate();
    });
  }
  if (!(await open())) void evaluate();
}

async function open(): Promise<boolean> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const state = fragment.get('state');
  const example = fragment.get('example');
  const live = fragment.get('live');
  addressError.value = undefined;
  try {
    if (live !== null) {
      const { openLive } = await import('../live/state.ts');
      openLive(live);
      return true;
    }
    if (state !== null) {
      openWorkspace(decodeWorkspace(state));
      return true;
    }
    if (example !== null) {
      await openExample(example);
      return true;
    }
  } catch (error) {
    addressError.value = error instanceof Error ? error.message : String(error);
  }
  return false;
}

export async function openExample(id: string): Promise<void> {
  const { examples } = await import('virtual:gallery');
  const found = examples.find((example) => example.id === id);
  if (found === undefined) throw new Error(`The gallery has no example ${id}.`);
  openWorkspace({ ...emptyWorkspace, ...found.workspace });
}

/** Puts the state into the address and copies it. */
export async function shareAddress(): Promise<void> {
  history.replaceState(undefined, '', `#state=${encodeWorkspace(workspace.value)}`);
  // Without permission, the link is still in the address bar.
  await navigator.clipboard?.writeText(location.href).catch(() => undefined);
}
