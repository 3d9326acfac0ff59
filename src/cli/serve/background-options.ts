import { parseDuration } from '../../expression/duration.ts';
import { inputError } from '../../problem.ts';
import type { Io } from '../io.ts';

export const scanIntervalVariable = 'BACKGROUND_SCAN_INTERVAL';
const defaultScanIntervalMs = 3_600_000;

/** How often rules for existing objects are run anyway: from the environment, as in Kyverno; 0 for never. */
export function scanInterval({ env }: Io): number {
  const text = env[scanIntervalVariable]?.trim() ?? '';
  if (text === '') return defaultScanIntervalMs;
  if (/^0+[a-z]*$/.test(text)) return 0;
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined || nanoseconds < 1_000_000_000n) {
    throw inputError(
      'KYM_USAGE',
      `${scanIntervalVariable} is no duration of a second or more, nor 0: ${text}`,
    );
  }
  return Number(nanoseconds / 1_000_000n);
}
