import { plain } from '../../offline/output/paint.ts';
import { celCompilersFor } from '../../policy/cel-documents.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { type LoadOptions, type LoadResult, loadBindings, loadDocuments } from '../../policy/load.ts';
import type { PolicyLimits } from '../../policy/policy-limits.ts';
import { InputError, type Problem } from '../../problem.ts';
import type { Log } from '../../server/log.ts';
import { expandInputs } from '../input/input-paths.ts';
import { mayHoldPolicies } from '../input/policy-input.ts';
import { displayName, readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';
import { formatProblem } from '../problem-text.ts';

/** The last valid policies of a file, and its current errors. */
export interface LoadedFile {
  /** Undefined when it could not be read. */
  readonly text: string | undefined;
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  readonly errors: readonly Problem[];
  /** The policies come from an earlier version of the file. */
  readonly isOutdated: boolean;
  /** The files with the bindings of its MutatingAdmissionPolicies; empty if it has none of these. */
  readonly boundBy: string;
}

export interface LoadFilesOptions {
  readonly io: Io;
  readonly log: Log;
  readonly limits: PolicyLimits;
}

export type LoadedFiles = ReadonlyMap<string, LoadedFile>;

type FileContents = { readonly file: string } & (
  | { readonly text: string }
  | { readonly problems: readonly Problem[] }
);

/**
 * Loads the policies of files that changed since `before`. An invalid file keeps its last valid policies and does not affect other
 * files. Throws InputError when a named file does not exist.
 */
export async function loadPolicyFiles(
  names: readonly string[],
  before: LoadedFiles,
  { io, log, limits }: LoadFilesOptions,
): Promise<LoadedFiles> {
  const files = new Map<string, LoadedFile>();
  const read = await readFiles(names, before, io);
  const cel = await celCompilersFor(read.flatMap((contents) => ('text' in contents ? [contents] : [])));
  // Policies and their bindings may be in different files.
  const binding = read.flatMap((contents) =>
    'text' in contents && contents.text.includes('MutatingAdmissionPolicyBinding') ? [contents] : [],
  );
  const bindings = cel === undefined ? [] : loadBindings(binding, cel);
  const bindingTexts = binding.map(({ text }) => text).join('\n');
  for (const contents of read) {
    const known = before.get(contents.file);
    const boundBy = 'text' in contents && admissionPolicy.test(contents.text) ? bindingTexts : '';
    const isKnown =
      known !== undefined && 'text' in contents && known.text === contents.text && known.boundBy === boundBy;
    const loaded = isKnown ? known : loadFile(contents, known, { log, limits, cel, bindings });
    files.set(contents.file, { ...loaded, boundBy });
  }
  return files;
}

const admissionPolicy = /\bMutatingAdmissionPolicy\b/;

async function readFiles(names: readonly string[], before: LoadedFiles, io: Io): Promise<FileContents[]> {
  const files: FileContents[] = [];
  for (const { file: path, discovered } of await expandInputs(names, io.cwd)) {
    const file = displayName(path);
    try {
      const text = await readWhole(path, io);
      const hadPolicies = (before.get(file)?.policies.length ?? 0) > 0;
      // A folder of policies may contain many resources as well.
      if (!discovered || hadPolicies || mayHoldPolicies(text)) files.push({ file, text });
    } catch (error) {
      const isFirst = before.size === 0;
      if (!(error instanceof InputError) || (isFirst && !discovered)) throw error;
      files.push({ file, problems: error.problems });
    }
  }
  return files;
}

function loadFile(
  contents: FileContents,
  known: LoadedFile | undefined,
  { log, ...options }: Omit<LoadFilesOptions, 'io'> & Pick<LoadOptions, 'cel' | 'bindings'>,
): Omit<LoadedFile, 'boundBy'> {
  const { policies, exceptions, problems } = loadContents(contents, known, options);
  for (const problem of problems) {
    const text = formatProblem(problem, plain);
    if (problem.severity === 'error') log.error({ problem: text }, 'policy problem');
    else log.warn({ problem: text }, 'policy problem');
  }
  const text = 'text' in contents ? contents.text : undefined;
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0 || known === undefined) {
    return { text, policies, exceptions, errors, isOutdated: false };
  }
  return { ...known, text, errors, isOutdated: true };
}

function loadContents(
  contents: FileContents,
  known: LoadedFile | undefined,
  options: LoadOptions,
): Pick<LoadResult, 'policies' | 'exceptions' | 'problems'> {
  if ('problems' in contents) return { policies: [], exceptions: [], problems: contents.problems };
  // TextDecoder returns UTF-16 strings. A copy as Latin-1 makes all substrings, and so patches, half as large.
  const text = Buffer.from(contents.text).toString();
  const result = loadDocuments([{ file: contents.file, text }], options);
  return { ...result, problems: [...result.problems, ...misspelled(result, known)] };
}

/** A document that was a policy before and is another kind now probably has a misspelled kind or apiVersion. */
function misspelled({ ignored, policies }: LoadResult, known: LoadedFile | undefined): Problem[] {
  const isThere = (name: string) => policies.some((policy) => policy.name === name);
  const wasThere = (name: string) => known?.policies.some((policy) => policy.name === name) ?? false;
  return ignored
    .filter(({ name }) => wasThere(name) && !isThere(name))
    .map(({ file, apiVersion, kind, name }) => ({
      code: 'KYM_FIELD_VALUE',
      severity: 'error',
      message: `${name} was a policy before; ${kind} of ${apiVersion} is not a policy`,
      pointer: '/kind',
      file,
      policy: name,
    }));
}
