import { createHash } from 'node:crypto';

export interface Reconciled {
  /** Tells rules apart: policy uid and rule. */
  readonly id: string;
  /** When the policy was created, in ms since the epoch. */
  readonly createdAt: number;
}

/** Later than the exact time by up to this part of the interval, so that policies created together do not run together. */
const spread = 0.05;

/**
 * The last regular look that was due: the first comes one interval after the policy was created. Counted from there alone, so that
 * neither a restart nor another leader brings one forward. 0 when none was due yet.
 */
export function lastRound({ id, createdAt }: Reconciled, intervalMs: number, now: number): number {
  const offset = fraction(id) * spread * intervalMs;
  return Math.max(0, Math.floor((now - createdAt - offset) / intervalMs));
}

/** Whether a look fell due in this span. */
export function isDue(rule: Reconciled, intervalMs: number, after: number, now: number): boolean {
  return lastRound(rule, intervalMs, now) > lastRound(rule, intervalMs, after);
}

/** Of the text, between 0 and 1, always the same. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
