import { type CheckedConversion, checkConversion } from '../../convert/checked-conversion.ts';
import { type TranslatedException, translateException } from '../../convert/exceptions.ts';
import type { Sample } from '../../convert/proof/sample.ts';
import { compileSource, convertSource } from '../../convert/source-policy.ts';
import type { ConversionTarget, Refusal } from '../../convert/types.ts';
import { nameOf } from '../../json/metadata.ts';
import { formatPointer } from '../../json/pointer.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';

import { celCompilers } from '../../policy/cel/language.ts';
import { celDocumentType } from '../../policy/cel-documents.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import {
  readDocuments,
  type SourceDocument,
  type SourceFile,
  splitDocuments,
} from '../../policy/documents.ts';
import { loadDocuments } from '../../policy/load.ts';
import type { Problem } from '../../problem.ts';
import { writeYaml } from '../../yaml/writer.ts';
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

async function fileToCel({ file, text }: SourceFile, options: ToCelOptions): Promise<DraftFile> {
  const policies: ConvertedPolicy[] = [];
  const parts: DraftPart[] = [];
  const all = readDocuments({ file, text }).documents.map(({ value }) => value);
  for (const part of splitDocuments(text)) {
    const { documents } = readDocuments({ file, text: part.text });
    for (const document of documents) {
      // Items of a List become documents.
      const source = documents.length === 1 ? part.text : writeYaml(document.value);
      const policy = await policyToCel(document, source, part.linesBefore, all, options);
      const exception = translateException(document.value, options.to);
      if (policy !== undefined) {
        policies.push(policy);
        parts.push(...textsOf(policy, source));
      } else if (exception !== undefined) parts.push({ exception, source });
      else if (!isObsolete(document.value, all, options)) parts.push(source);
    }
    if (documents.length === 0) parts.push(part.text);
  }
  return { file, before: text, parts, policies };
}

/** A MutatingPolicy has no binding. */
function isObsolete(value: JsonObject, all: readonly JsonObject[], { to }: ToCelOptions): boolean {
  if (to !== 'mutatingpolicy' || celDocumentType(value) !== 'admissionBinding') return false;
  const policy = readText(readObject(value, 'spec') ?? {}, 'policyName');
  return all.some((each) => celDocumentType(each) === 'admissionPolicy' && nameOf(each) === policy);
}

async function policyToCel(
  document: SourceDocument,
  source: string,
  linesBefore: number,
  all: readonly JsonObject[],
  options: ToCelOptions,
): Promise<ConvertedPolicy | undefined> {
  const { value, file } = document;
  const { to, partial } = options;
  const { exceptions, translated } = options;
  const conversion = convertSource(value, { to, partial, source, others: all, exceptions: translated });
  const old = compileSource(document);
  if (conversion === undefined || old === undefined) return undefined;
  const samples = [...options.samples, ...(await options.testSamples(file, [old]))];
  const checked = await checkConversion(old, conversion, { samples, exceptions, translated });
  const place = (path: Path) => {
    const { line, column } = document.positionOf(path);
    return { line: line + linesBefore, column };
  };
  return {
    file,
    line: place([]).line,
    name: old.key,
    kind: readText(value, 'kind') ?? '',
    checked,
    problems: problemsOf(old, checked, place, options),
  };
}

type Place = (path: Path) => { readonly line: number; readonly column: number };

function problemsOf(
  old: CompiledPolicy,
  { conversion, proof, problems }: CheckedConversion,
  place: Place,
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
    const at = parseFieldPath(path);
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

/** @example parseFieldPath('spec.rules[0].mutate') // ['spec', 'rules', 0, 'mutate'] */
export function parseFieldPath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index === undefined ? (quoted ?? name ?? '') : Number(index),
  );
}

/** The converted documents, after the old policy with the rules that stay. */
function textsOf({ checked }: ConvertedPolicy, source: string): readonly string[] {
  const { documents, refusals } = checked.conversion;
  const remaining = refusals.length === 0 ? [] : [withoutConvertedRules(source, refusals)];
  return [...remaining, ...documents.map(({ text }) => text)];
}
