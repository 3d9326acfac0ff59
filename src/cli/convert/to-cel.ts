import { type CheckedConversion, checkConversion } from '../../convert/checked-conversion.ts';
import { type TranslatedException, translateException } from '../../convert/exceptions.ts';
import { convertFile, type PolicyConversion, parseClausePath } from '../../convert/file.ts';
import type { Sample } from '../../convert/proof/sample.ts';
import type { ConversionTarget, Refusal } from '../../convert/types.ts';
import { formatPointer } from '../../json/pointer.ts';
import { celCompilers } from '../../policy/cel/language.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { readDocuments, type SourceFile } from '../../policy/documents.ts';
import { loadDocuments } from '../../policy/load.ts';
import type { Problem } from '../../problem.ts';
import { withoutConvertedRules } from './remaining-rules.ts';
import { type DraftFile, type DraftPart, finishFiles } from './written-files.ts';

/** One policy of a file and what became of it. */
export interface ConvertedPolicy {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  readonly kind: string;
  readonly checked: CheckedConversion;
  /** Reasons against the conversion, and differences, with their place in the file. */
  readonly problems: readonly Problem[];
}

export interface ConvertedFile {
  readonly file: string;
  readonly before: string;
  /** The same as before if a policy of the file is not written. */
  readonly after: string;
  readonly policies: readonly ConvertedPolicy[];
}

export interface ToCelOptions {
  readonly to: ConversionTarget;
  readonly partial: boolean;
  readonly samples: readonly Sample[];
  /** Exceptions of all files. */
  readonly exceptions: readonly CompiledException[];
  readonly translated: readonly TranslatedException[];
  /** The requests of a policy's tests. */
  readonly testSamples: (file: string, policies: readonly CompiledPolicy[]) => Promise<readonly Sample[]>;
}

/** Converts the policies of files and compares each with its converted form. */
export async function filesToCel(
  sources: readonly SourceFile[],
  { to, ...options }: Omit<ToCelOptions, 'exceptions' | 'translated'>,
): Promise<readonly ConvertedFile[]> {
  const { exceptions } = loadDocuments(sources, { cel: celCompilers });
  const documents = sources.flatMap((source) => readDocuments(source).documents);
  const translated = documents.flatMap(({ value }) => translateException(value, to) ?? []);
  const drafts: DraftFile[] = [];
  for (const source of sources)
    drafts.push(await fileToCel(source, { ...options, to, exceptions, translated }));
  return finishFiles(drafts, options.partial);
}

async function fileToCel(source: SourceFile, options: ToCelOptions): Promise<DraftFile> {
  const policies: ConvertedPolicy[] = [];
  const parts: DraftPart[] = [];
  for (const part of convertFile(source, options)) {
    if (part.policy !== undefined) {
      policies.push(await checkPolicy(part.policy, options));
      parts.push(...textsOf(part.policy, part.source));
    } else if (part.exception !== undefined) parts.push({ exception: part.exception, source: part.source });
    else parts.push(part.source);
  }
  return { file: source.file, before: source.text, parts, policies };
}

async function checkPolicy(policy: PolicyConversion, options: ToCelOptions): Promise<ConvertedPolicy> {
  const { old, kind, conversion, place } = policy;
  const { exceptions, translated } = options;
  const { file } = old.source;
  const samples = [...options.samples, ...(await options.testSamples(file, [old]))];
  const checked = await checkConversion(old, conversion, { samples, exceptions, translated });
  const problems = problemsOf(old, checked, place, options);
  return { file, line: place([]).line, name: old.key, kind, checked, problems };
}

function problemsOf(
  old: CompiledPolicy,
  { conversion, proof, problems }: CheckedConversion,
  place: PolicyConversion['place'],
  { to, partial }: ToCelOptions,
): readonly Problem[] {
  const { file } = old.source;
  const kind = to === 'map' ? 'MutatingAdmissionPolicy' : 'MutatingPolicy';
  const isPart = partial && conversion.documents.length > 0;
  const problemFor = (
    { rule, path, reason }: Refusal,
    message: string,
    hint: string,
    isError = true,
  ): Problem => {
    const at = parseClausePath(path);
    const severity = isError ? 'error' : 'warning';
    const pointer = formatPointer(at);
    return {
      code: 'KYM_NOT_CONVERTED',
      severity,
      message: `${message}: ${reason}`,
      hint,
      pointer,
      file,
      policy: old.key,
      rule,
      ...place(at),
    };
  };
  const refused = conversion.refusals.map((refusal) =>
    problemFor(
      refusal,
      `${refusal.path} cannot be expressed in a ${kind}`,
      isPart
        ? 'This rule stays in the old policy.'
        : 'Keep the policy as it is, change the clause, or convert the other rules with --partial.',
      !isPart,
    ),
  );
  const lost = conversion.differences.map((difference) =>
    problemFor(
      difference,
      `the ${kind} differs`,
      'Keep the policy as it is, or write the new policy by hand.',
    ),
  );
  const difference = proof?.difference;
  const found: Problem[] =
    difference === undefined
      ? []
      : [
          {
            code: 'KYM_NOT_CONVERTED',
            severity: 'error',
            message: `the ${kind} does not do the same: ${difference.fault.message}`,
            hint: 'The policy was not converted. The difference below shows the object.',
            pointer: '',
            file,
            policy: old.key,
            rule: difference.fault.rule,
            ...place([]),
          },
        ];
  return [...refused, ...lost, ...found, ...problems.map((problem) => ({ ...problem, policy: old.key }))];
}

/** The converted documents, after the old policy with the rules that stay. */
function textsOf({ conversion }: PolicyConversion, source: string): readonly string[] {
  const { documents, refusals } = conversion;
  const remaining = refusals.length === 0 ? [] : [withoutConvertedRules(source, refusals)];
  return [...remaining, ...documents.map(({ text }) => text)];
}
