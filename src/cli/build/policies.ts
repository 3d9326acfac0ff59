import type { PolicyChange } from '../../offline/apply-policies.ts';
import { plain } from '../../offline/output/paint.ts';
import { visible } from '../../offline/output/visible.ts';
import type { LoadResult } from '../../policy/load.ts';
import type { Problem } from '../../problem.ts';
import { loadPolicies } from '../input/policy-input.ts';
import type { Io } from '../io.ts';
import { formatProblem } from '../problem-text.ts';

/** Loads the policies of `--policies` and prints warnings. Throws InputError with every error. */
export async function loadBuildPolicies(names: readonly string[], io: Io): Promise<LoadResult> {
  const loaded = await loadPolicies(names, io);
  await printWarnings(loaded.problems, io);
  return loaded;
}

export async function printWarnings(problems: readonly Problem[], io: Io): Promise<void> {
  for (const problem of problems) await io.stderr.write(`${formatProblem(problem, plain)}\n`);
}

export function formatChange({ object, policy, rule, operations }: PolicyChange): string {
  return visible(`${object}: policy ${policy}, rule ${rule}: ${operations.join(', ')}`);
}
