import { celCompilersFor } from '../../policy/cel-documents.ts';
import type { SourceFile } from '../../policy/documents.ts';
import { type LoadResult, loadDocuments } from '../../policy/load.ts';
import { InputError, inputError } from '../../problem.ts';
import type { Io } from '../io.ts';
import { expandInputs } from './input-paths.ts';
import { displayName, readWhole } from './text-input.ts';

const policyKinds =
  /\b(?:Cluster|(?:Namespaced)?Mutating|MutatingAdmission)?(?:Cleanup)?Policy(?:Exception|Binding)?(?:List)?\b|\b(?:Namespaced)?(?:ImageValidating|Validating|Deleting)Policy(?:List)?\b|\bGlobalContextEntry(?:List)?\b|\bapiVersion:\s*["']?kyverno\.io\//;

/** False for a source that does not contain the name of a policy kind. */
export function mayHoldPolicies(text: string): boolean {
  return policyKinds.test(text);
}

export interface PolicyInputOptions {
  /** Kyverno's exact behaviour where ours is deliberately different. */
  readonly strictCompat?: boolean | undefined;
  /** The command takes resources with `-r`. */
  readonly takesResources?: boolean | undefined;
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
export async function loadPolicyInputs(
  names: readonly string[],
  io: Io,
  options: PolicyInputOptions = {},
): Promise<LoadResult> {
  return loadFiles(await readPolicyTexts(names, io), options);
}

async function loadFiles(
  files: readonly SourceFile[],
  { strictCompat }: PolicyInputOptions,
): Promise<LoadResult> {
  const result = loadDocuments(files, { cel: await celCompilersFor(files), strictCompat });
  const errors = result.problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  return result;
}

/** As `loadPolicyInputs`, for arguments that must contain a policy. */
export async function loadPolicies(
  names: readonly string[],
  io: Io,
  options: PolicyInputOptions = {},
): Promise<LoadResult> {
  const files = await readPolicyTexts(names, io);
  const result = await loadFiles(files, options);
  if (result.policies.length === 0) throw noPolicy(names, files, result, options);
  return result;
}

export function noPolicy(
  names: readonly string[],
  files: readonly SourceFile[],
  { ignored, problems }: Pick<LoadResult, 'ignored' | 'problems'>,
  { takesResources }: PolicyInputOptions = {},
): InputError {
  const what =
    'a policy is a ClusterPolicy or Policy of kyverno.io, a MutatingPolicy of policies.kyverno.io, or a MutatingAdmissionPolicy';
  const resource = ignored.find(({ kind }) => kind !== '');
  const [warning] = problems;
  if (warning !== undefined) {
    const { message: reason, file, line } = warning;
    return inputError('KYM_INPUT_NOT_FOUND', `there is no policy in ${names.join(', ')}: ${reason}`, {
      file,
      line,
    });
  }
  if (resource !== undefined) {
    const { file, kind } = resource;
    return inputError('KYM_INPUT_NOT_FOUND', `${file} contains ${withArticle(kind)} and no policy`, {
      file,
      hint: takesResources === true ? `did you mean -r ${file}?` : what,
    });
  }
  const isEmpty = files.length > 0 && files.every(({ text }) => text.split('\n').every(isBlank));
  const message = isEmpty
    ? `${files.map(({ file }) => file).join(', ')} is empty`
    : `there is no policy in ${names.join(', ')}`;
  return inputError('KYM_INPUT_NOT_FOUND', message, { hint: what });
}

/** The error for policies without resources. A file among the policies may be meant as one. */
export function noResource(ignored: LoadResult['ignored']): InputError {
  const [first] = ignored.filter(({ kind }) => kind !== '');
  return inputError('KYM_USAGE', 'no resource is named', {
    hint:
      first === undefined
        ? 'name them with -r; - for standard input'
        : `${first.file} contains ${withArticle(first.kind)}: did you mean -r ${first.file}?`,
  });
}

/** A line without content. */
function isBlank(line: string): boolean {
  const trimmed = line.trim();
  return trimmed === '' || trimmed.startsWith('#') || trimmed === '---';
}

function withArticle(kind: string): string {
  return `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
