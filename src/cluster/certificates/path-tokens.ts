import { randomBytes } from 'node:crypto';
import { readTextMap } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { startInformer } from '../api/informer.ts';
import { managedLabels } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';

/** The Secret with the tokens in webhook paths. */
export const pathTokenSecret = 'kymera-webhook-path';

/**
 * The tokens in webhook paths. A rotation has three steps: all replicas accept the next token; the webhook
 * configurations use it; the previous token expires.
 */
export interface TokenState {
  /** The token in the webhook configurations, and since when, in ms since the epoch. */
  readonly current: { readonly token: string; readonly since: number };
  readonly next?: { readonly token: string; readonly since: number } | undefined;
  readonly previous?: { readonly token: string; readonly until: number } | undefined;
  /** When a review last ran into its timeout: the API server has then printed the token. */
  readonly exposedAt?: number | undefined;
}

export interface TokenTiming {
  readonly lifeMs: number;
  /** The shortest time between rotations. */
  readonly minimumLifeMs: number;
  /** How long the next token is accepted before the webhook configurations use it: time for all replicas to read it. */
  readonly distributionMs: number;
  /** How long the previous token is accepted: time for all API servers to read the webhook configurations. */
  readonly overlapMs: number;
}

/** An exposed token expires within five minutes: distribution and overlap take four, and the leader checks every minute. */
export const defaultTokenTiming: TokenTiming = {
  lifeMs: 24 * 60 * 60_000,
  minimumLifeMs: 10 * 60_000,
  distributionMs: 55_000,
  overlapMs: 150_000,
};

/** The next state, or undefined if nothing is due. */
export function planTokens(
  state: TokenState | undefined,
  now: number,
  timing: TokenTiming = defaultTokenTiming,
  newToken: () => string = createToken,
): TokenState | undefined {
  if (state === undefined) return { current: { token: newToken(), since: now } };
  const { current, next, previous, exposedAt } = state;
  if (next !== undefined) {
    if (now < next.since + timing.distributionMs) return undefined;
    return {
      current: { token: next.token, since: now },
      previous: { token: current.token, until: now + timing.overlapMs },
      exposedAt,
    };
  }
  if (previous !== undefined) {
    return now < previous.until ? undefined : { current, exposedAt };
  }
  const age = now - current.since;
  const isExposed = exposedAt !== undefined && exposedAt >= current.since && age >= timing.minimumLifeMs;
  return age >= timing.lifeMs || isExposed
    ? { current, next: { token: newToken(), since: now }, exposedAt }
    : undefined;
}

/** A DNS-1123 label, as the API server requires of the path segments of a Service webhook. 192 bits. */
function createToken(): string {
  return randomBytes(24).toString('hex');
}

export interface PathTokenOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly timing?: TokenTiming | undefined;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

export interface PathTokens {
  /** The token for the webhook configurations; undefined until a leader has created it. */
  current(): string | undefined;
  /** The tokens that the server accepts now. */
  accepted(): readonly string[];
  /** Creates, rotates or expires tokens as needed. Called by the leader. */
  maintain(): Promise<void>;
  /** Requests a rotation after a review ran into its timeout. */
  exposed(): void;
  stop(): Promise<void>;
}

/** Watches the tokens in the Secret. They must not appear in logs, metrics, events or errors. */
export function startPathTokens(options: PathTokenOptions): PathTokens {
  const { client, namespace, timing = defaultTokenTiming } = options;
  const place = { namespace, name: pathTokenSecret };
  // The last tokens stay in use after the Secret was deleted.
  let known: TokenState | undefined;
  let reporting: Promise<void> | undefined;
  let isStopped = false;
  const informer = startInformer({
    client,
    type: resourceTypes.secrets,
    kind: 'Secret',
    select: { namespace, fieldSelector: `metadata.name=${pathTokenSecret}` },
    onChange({ object }) {
      known = stateOf(object) ?? known;
      options.onChange();
    },
    onError: options.onError,
  });

  async function read(): Promise<JsonObject | undefined> {
    try {
      return await client.get(resourceTypes.secrets, place);
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async function write(state: TokenState, existing: JsonObject | undefined): Promise<void> {
    const data = { state: Buffer.from(JSON.stringify(state)).toString('base64') };
    // The resourceVersion prevents overwriting what another replica has just written.
    if (existing !== undefined) await client.update(resourceTypes.secrets, { ...existing, data });
    else
      await client.create(resourceTypes.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { ...place, labels: { ...managedLabels } },
        type: 'Opaque',
        data,
      });
    known = state;
  }

  async function reportExposure(): Promise<void> {
    const existing = await read();
    const state = stateOf(existing);
    // Once per token is enough.
    if (state === undefined || (state.exposedAt ?? 0) >= state.current.since) return;
    await write({ ...state, exposedAt: client.now() }, existing);
  }

  return {
    current: () => known?.current.token,
    accepted() {
      if (known === undefined) return [];
      const { current, next, previous } = known;
      return [
        current.token,
        ...(next === undefined ? [] : [next.token]),
        ...(previous === undefined || client.now() >= previous.until ? [] : [previous.token]),
      ];
    },
    async maintain() {
      const existing = await read();
      const stored = stateOf(existing);
      const next = planTokens(stored ?? known, client.now(), timing);
      if (next !== undefined) await write(next, existing);
      else if (stored === undefined && known !== undefined) await write(known, existing);
      else return;
      options.onChange();
    },
    exposed() {
      if (isStopped || known === undefined || (known.exposedAt ?? 0) >= known.current.since) return;
      reporting ??= reportExposure()
        .catch(options.onError)
        .finally(() => {
          reporting = undefined;
        });
    },
    async stop() {
      isStopped = true;
      await informer.stop();
      await reporting;
    },
  };
}

function stateOf(secret: JsonObject | undefined): TokenState | undefined {
  try {
    const text = Buffer.from(readTextMap(secret ?? {}, 'data')['state'] ?? '', 'base64').toString('utf8');
    const state = JSON.parse(text) as Json;
    const current = isObject(state) ? state['current'] : undefined;
    const isValid =
      isObject(current) &&
      /^[a-z0-9]{32,63}$/.test(String(current['token'])) &&
      Number.isFinite(current['since']);
    return isValid ? (state as unknown as TokenState) : undefined;
  } catch {
    // Edited by hand: a leader replaces it.
    return undefined;
  }
}
