import { celCompilers } from '../policy/cel/language.ts';
import type { CompiledException, CompiledPolicy } from '../policy/compiled.ts';
import { loadDocuments } from '../policy/load.ts';
import type { Problem } from '../problem.ts';
import { convertException, exemptedPolicies, type TranslatedException } from './exceptions.ts';
import { generateObjects } from './proof/generate-objects.ts';
import { type Proof, prove } from './proof/prove.ts';
import type { Sample } from './proof/sample.ts';
import type { Conversion } from './types.ts';

/**
 * `proven`: equal on all requests. `unproven`: the same, but the policy changes existing objects, and no request changed one. `differs`:
 * converted, but not equal. `refused`: a clause cannot be converted.
 */
export type ConversionStatus = 'proven' | 'unproven' | 'differs' | 'refused';

export interface CheckedConversion {
  readonly status: ConversionStatus;
  readonly conversion: Conversion;
  /** Errors and warnings about the converted documents. */
  readonly problems: readonly Problem[];
  /** Absent if there is nothing to compare. */
  readonly proof?: Proof | undefined;
  /** How many of the compared requests were generated. */
  readonly generated: number;
}

export interface CheckOptions {
  /** Exceptions from the old policy. */
  readonly exceptions?: readonly CompiledException[] | undefined;
  /** The same exceptions as documents; requests are generated for them, and they are converted for the new policies. */
  readonly translated?: readonly TranslatedException[] | undefined;
  /** Requests beside the generated ones. */
  readonly samples?: readonly Sample[] | undefined;
  /** The most requests to generate. */
  readonly limit?: number | undefined;
  /** For other requests. */
  readonly seed?: number | undefined;
}

/** Compares a policy with its converted form. Of a policy that is converted in part, only the converted rules are compared. */
export async function checkConversion(
  old: CompiledPolicy,
  conversion: Conversion,
  { exceptions = [], translated = [], samples = [], limit, seed }: CheckOptions = {},
): Promise<CheckedConversion> {
  const { documents, refusals, differences } = conversion;
  if (documents.length === 0) return { status: 'refused', conversion, problems: [], generated: 0 };
  const converted = translated.flatMap((each) => convertException(each, conversion.exempted ?? []) ?? []);
  const text = [...documents, ...converted].map((document) => document.text).join('---\n');
  const {
    policies,
    exceptions: newExceptions,
    problems,
  } = loadDocuments([{ file: `${old.name} (converted)`, text }], {
    cel: celCompilers,
  });
  if (problems.some(({ severity }) => severity === 'error'))
    return { status: 'differs', conversion, problems, generated: 0 };
  const own = translated.filter((each) => exemptedPolicies(each).includes(old.key));
  const generated = generateObjects([old, ...policies], {
    limit,
    seed,
    exceptions: own.map(({ document }) => document),
  });
  const proof = await prove(
    { policies: [withoutRules(old, conversion)], exceptions },
    { policies, exceptions: newExceptions },
    [...samples, ...generated],
  );
  const isSame = proof.difference === undefined && differences.length === 0 && problems.length === 0;
  const whole = proof.existing === 0 ? 'unproven' : 'proven';
  const status = !isSame ? 'differs' : refusals.length > 0 ? 'refused' : whole;
  return { status, conversion, problems, proof, generated: generated.length };
}

function withoutRules(old: CompiledPolicy, { refusals }: Conversion): CompiledPolicy {
  const refused = new Set(refusals.map(({ rule }) => rule));
  return { ...old, rules: old.rules.filter(({ name, autogenOf }) => !refused.has(autogenOf ?? name)) };
}
