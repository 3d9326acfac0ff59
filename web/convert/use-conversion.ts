import { useEffect, useState } from 'preact/hooks';
import { StuckError } from '../engine/client.ts';
import type { ConvertedFile, ConvertRequest, ProofState } from '../engine/conversion.ts';
import type { Evaluation } from '../engine/evaluation.ts';
import { engine } from '../state/playground.ts';

export interface ShownConversion {
  readonly file: ConvertedFile;
  /** Undefined until the first requests are compared. */
  readonly proof?: ProofState | undefined;
  /** Why the comparison ended without a result. */
  readonly error?: string | undefined;
}

/** Converts the file after each evaluation, and compares old and new step by step until the input changes. */
export function useConversion(
  result: Evaluation,
  { file, to, edited }: ConvertRequest,
): ShownConversion | undefined {
  const [shown, setShown] = useState<{ readonly of: string; readonly value: ShownConversion }>();
  const key = `${to} ${file}`;
  useEffect(() => {
    let isCurrent = true;
    const show = (value: ShownConversion) => setShown({ of: key, value });
    const run = async () => {
      const converted = await engine.run('convert', { file, to, edited });
      if (!isCurrent) return;
      show({ file: converted });
      if (converted.obstacle !== undefined || (converted.converted === 0 && edited === undefined)) return;
      for (;;) {
        const proof = await engine.run('prove', undefined);
        if (!isCurrent) return;
        show({ file: converted, proof });
        if (proof.difference !== undefined || proof.compared >= proof.total) return;
      }
    };
    run().catch((error: unknown) => {
      // A job that a newer one replaced belongs to an older input.
      if (isCurrent) setShown((before) => before && { ...before, value: failed(before.value, error) });
    });
    return () => {
      isCurrent = false;
    };
  }, [result, file, to, edited]);
  return shown?.of === key ? shown.value : undefined;
}

function failed(before: ShownConversion, error: unknown): ShownConversion {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    ...before,
    error:
      error instanceof StuckError
        ? 'The comparison did not end and was stopped. Change the policy to try again.'
        : `The comparison failed: ${reason}`,
  };
}
