import { timingSafeEqual } from 'node:crypto';

/**
 * Returns the tokens that are accepted now: the current one and, while it is being rotated, the previous one. Called per
 * request. The token is the first segment of every webhook path: `/TOKEN/mutate/fail`. It must be a DNS-1123 label.
 */
export type PathTokens = () => readonly string[];

/** Compares in constant time: the answer takes equally long for any candidate of the right length. */
export function isAcceptedToken(candidate: string, tokens: readonly string[]): boolean {
  const bytes = Buffer.from(candidate);
  let isAccepted = false;
  for (const token of tokens) {
    const expected = Buffer.from(token);
    if (expected.length > 0 && expected.length === bytes.length && timingSafeEqual(bytes, expected))
      isAccepted = true;
  }
  return isAccepted;
}
