import { signal } from '@preact/signals';
import type { JsonObject } from '../../src/json/value.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { emptyRequest, emptyWorkspace, type Operation } from '../engine/workspace.ts';
import { evaluate, isLive, openWorkspace } from '../state/playground.ts';
import { type Interval, intervalBetween, type MetricsSummary } from './rates.ts';

/** The answer of `/live`. */
export interface LiveState {
  readonly time: number;
  readonly ready: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[];
  readonly policies: readonly {
    readonly key: string;
    readonly kind: string;
    readonly mode: string;
    readonly rules: number;
  }[];
  readonly metrics: MetricsSummary;
  /** Null if the server keeps none. */
  readonly decisions: readonly LiveDecision[] | null;
}

export interface LiveDecision {
  readonly time: string;
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly operation: string;
  readonly allowed: boolean;
  readonly microseconds: number;
  readonly canOpen: boolean;
  readonly rules: readonly { readonly policy: string; readonly rule: string; readonly status: string }[];
}

const interval = 2_000;
const keptIntervals = 90;

export const token = signal(sessionStorage.getItem('live-token') ?? '');
export const live = signal<LiveState | undefined>(undefined);
/** Oldest first. */
export const history = signal<readonly Interval[]>([]);
export const liveError = signal<string | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows the live view. A token in the address is remembered for this tab and removed from the address. */
export function openLive(given: string): void {
  if (given !== '') useToken(given);
  globalThis.history.replaceState(undefined, '', '#live');
  isLive.value = true;
  clearTimeout(timer);
  if (token.value !== '') void poll();
}

export function useToken(given: string): void {
  sessionStorage.setItem('live-token', given);
  token.value = given;
}

/** Shows the editors, with what they contain. */
export function closeLive(): void {
  clearTimeout(timer);
  isLive.value = false;
  globalThis.history.replaceState(undefined, '', '#');
  void evaluate();
}

export async function poll(): Promise<void> {
  try {
    const next = await call<LiveState>('live');
    const before = live.value;
    if (before !== undefined)
      history.value = [...history.value.slice(1 - keptIntervals), intervalBetween(before, next)];
    live.value = next;
    liveError.value = undefined;
  } catch (error) {
    liveError.value = error instanceof Error ? error.message : String(error);
  }
  clearTimeout(timer);
  if (isLive.value && token.value !== '') timer = setTimeout(() => void poll(), interval);
}

interface OpenedDecision {
  readonly request: {
    readonly operation: string;
    readonly object: JsonObject | null;
    readonly oldObject: JsonObject | null;
    readonly username: string;
    readonly groups: readonly string[];
    readonly roles: readonly string[];
    readonly clusterRoles: readonly string[];
  };
  readonly policies: readonly { readonly key: string; readonly document: JsonObject }[];
}

/** Opens the request and the policies of a decision in the editors. */
export async function openDecision(uid: string): Promise<void> {
  const { request, policies } = await call<OpenedDecision>(`live/decisions/${encodeURIComponent(uid)}`);
  closeLive();
  openWorkspace({
    ...emptyWorkspace,
    policies: policies.map(({ key, document }) => ({
      name: `${key.replace('/', '-')}.yaml`,
      text: writeYaml(document),
    })),
    resources: request.object === null ? [] : [{ name: 'object.yaml', text: writeYaml(request.object) }],
    request: {
      ...emptyRequest,
      operation: request.operation as Operation,
      username: request.username,
      groups: request.groups.join(', '),
      roles: request.roles.join(', '),
      clusterRoles: request.clusterRoles.join(', '),
      oldObject: request.oldObject === null ? '' : writeYaml(request.oldObject),
    },
  });
}

async function call<Answer>(path: string): Promise<Answer> {
  const response = await fetch(path, { headers: { authorization: `Bearer ${token.value}` } });
  if (response.status === 401) {
    useToken('');
    throw new Error('The server does not accept this token.');
  }
  if (response.status === 404)
    throw new Error('The server has no live view, or no longer keeps this decision.');
  if (!response.ok) throw new Error(`The server answered with ${response.status}.`);
  return (await response.json()) as Answer;
}
