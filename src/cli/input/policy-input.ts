import type { SourceFile } from '../../policy/documents.ts';
import { type LoadResult, loadDocuments } from '../../policy/load.ts';
import { InputError, inputError } from '../../problem.ts';
import type { Io } from '../io.ts';
import { expandInputs } from './input-paths.ts';
import { displayName, readWhole } from './text-input.ts';

const policyKinds =
  /\b(?:Cluster)?(?:Cleanup)?Policy(?:Exception)?(?:List)?\b|\b(?:Namespaced)?(?:ImageValidating|Validating|Deleting)Policy(?:List)?\b|\bGlobalContextEntry(?:List)?\b/;

/** False for a source that does not contain the name of a policy kind. */
export function mayHoldPolicies(text: string): boolean {
  return policyKinds.test(text);
}

/** The sources of the policy files that the user named. */
export async function readPolicyTexts(names: readonly string[], io: Io): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for (const { file, discovered } of await expandInputs(names, io.cwd)) {
    const text = await readWhole(file, io);
    // A folder of policies may contain many resources as well.
    if (!discovered || mayHoldPolicies(text)) files.push({ file: displayName(file), text });
  }
  return files;
}

/** Loads policies (or exceptions) that the user named. Throws InputError with every error found. */
export async function loadPolicyInputs(names: readonly string[], io: Io): Promise<LoadResult> {
  const result = loadDocuments(await readPolicyTexts(names, io));
  const errors = result.problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  return result;
}

/** As `loadPolicyInputs`, for arguments that must contain a policy. */
export async function loadPolicies(names: readonly string[], io: Io): Promise<LoadResult> {
  const result = await loadPolicyInputs(names, io);
  if (result.policies.length === 0) throw noPolicy(names);
  return result;
}

export function noPolicy(names: readonly string[]): InputError {
  return inputError('KYM_INPUT_NOT_FOUND', `there is no policy in ${names.join(', ')}`, {
    hint: 'a policy is a ClusterPolicy or Policy of kyverno.io',
  });
}
