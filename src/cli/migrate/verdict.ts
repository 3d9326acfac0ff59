import { adviseOnPolicy } from '../../analysis/advice/advice.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { type CelCompilers, celDocumentType } from '../../policy/cel-documents.ts';
import { compilePolicy } from '../../policy/compile/policy.ts';
import type { SourceDocument } from '../../policy/documents.ts';
import { ruleType } from '../../policy/rule-type.ts';
import type { Problem } from '../../problem.ts';

/**
 * `same`: runs as in Kyverno. `differs`: runs with a different result in some case. `refused`: does not load.
 * `stays`: contains no rule for Kymera.
 */
export type Verdict = 'same' | 'differs' | 'refused' | 'stays';

export interface PolicyVerdict {
  readonly policy: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly file: string;
  readonly line: number;
  readonly verdict: Verdict;
  /** Names of the mutate and generate rules, which run here. */
  readonly runs: readonly string[];
  /** Rules that only Kyverno runs. */
  readonly stays: readonly { readonly rule: string; readonly type: string }[];
  readonly differences: readonly Difference[];
  /** The reasons why it does not load. */
  readonly errors: readonly Problem[];
}

export interface Difference {
  /** '' for the whole policy. */
  readonly rule: string;
  readonly line?: number | undefined;
  readonly message: string;
  /** The topic of `kymera errors`. */
  readonly see: string;
}

/** CEL policies have no rules of their own. */
const mainRule = 'mutations';

/** The verdict on one document; undefined when it is not a policy. */
export function verdictOn(document: SourceDocument, cel?: CelCompilers): PolicyVerdict | undefined {
  const { value } = document;
  const apiVersion = readText(value, 'apiVersion') ?? '';
  const kind = readText(value, 'kind') ?? '';
  const celType = celDocumentType(value);
  const isKyverno = /^(?:[\w.-]+\.)?kyverno\.io\/|^policy\.nirmata\.io\/|^kymera\.io\//.test(apiVersion);
  if ((!isKyverno || apiVersion.startsWith('cli.kyverno.io/')) && celType !== 'admissionPolicy')
    return undefined;
  const about = {
    policy: nameOf(value),
    apiVersion,
    kind,
    file: document.file,
    line: document.positionOf([]).line,
  };
  const nothing = { runs: [], stays: [], differences: [], errors: [] };
  if (celType === 'celException') return undefined;
  if (celType === 'mutatingPolicy' && cel !== undefined) {
    const { problems } = cel.compileMutatingPolicy(value, document, { strict: false });
    const errors = problems.filter(({ severity }) => severity === 'error');
    const verdict = errors.length > 0 ? 'refused' : 'same';
    return { ...about, ...nothing, verdict, runs: [mainRule], errors };
  }
  if (celType === 'admissionPolicy') {
    const problems = cel?.compileAdmissionPolicy(value, document).problems ?? [];
    const errors = problems.filter(({ severity }) => severity === 'error');
    return { ...about, ...nothing, verdict: errors.length > 0 ? 'refused' : 'stays', errors };
  }
  if (!/^(?:kyverno|kymera|policy\.nirmata)\.io\//.test(apiVersion) || !/^(?:Cluster)?Policy$/.test(kind)) {
    const isData = kind === 'PolicyException' || kind === 'GlobalContextEntry';
    return isData ? undefined : { ...about, verdict: 'stays', ...nothing };
  }
  const { problems } = compilePolicy(value, document);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const rules = rulesOf(value);
  const runs = rules.flatMap(({ rule, type }) => (isOurs(type) ? [rule] : []));
  const stays = rules.filter(({ type }) => !isOurs(type));
  const differences = distinct([
    ...originalFormat(apiVersion),
    ...adviseOnPolicy(value, document)
      .filter(({ code }) => code === 'KYM_DIFFERS_FROM_KYVERNO')
      .map(differenceOf),
    ...problems
      .filter(({ code, severity }) => code === 'KYM_NAMESPACE_SCOPE' && severity === 'warning')
      .map((problem) => ({ ...differenceOf(problem), see: 'KYM_NAMESPACE_SCOPE' })),
  ]);
  const verdict =
    runs.length === 0 ? 'stays' : errors.length > 0 ? 'refused' : differences.length > 0 ? 'differs' : 'same';
  return { ...about, verdict, runs, stays, differences, errors: verdict === 'stays' ? [] : errors };
}

/** Kyverno reads policies of kyverno.io/v1 and newer versions only. */
function originalFormat(apiVersion: string): readonly Difference[] {
  if (!/^(?:kyverno|policy\.nirmata)\.io\/v1alpha1$/.test(apiVersion)) return [];
  return [
    {
      rule: '',
      message: `only Kymera runs it: Kyverno no longer reads ${apiVersion}, and kymera convert writes kyverno.io/v1`,
      see: 'old-policies',
    },
  ];
}

function isOurs(type: string): boolean {
  return type === 'mutate' || type === 'generate';
}

function nameOf(value: JsonObject): string {
  const metadata = readObject(value, 'metadata') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const namespace = readText(metadata, 'namespace');
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function rulesOf(value: JsonObject): readonly { readonly rule: string; readonly type: string }[] {
  return readObjects(readObject(value, 'spec') ?? {}, 'rules').flatMap((rule, index) => {
    const type = ruleType(rule) ?? (Object.hasOwn(rule, 'mutate') ? 'mutate' : undefined);
    return type === undefined ? [] : [{ rule: readText(rule, 'name') ?? `rule-${index}`, type }];
  });
}

function distinct(differences: readonly Difference[]): readonly Difference[] {
  return [...new Map(differences.map((each) => [`${each.rule} ${each.message}`, each])).values()];
}

function differenceOf({ rule, line, message, hint }: Problem): Difference {
  const see = /kymera errors ([\w-]+)/.exec(hint ?? '')?.[1];
  return {
    rule: rule ?? '',
    line,
    message,
    see: see ?? 'KYM_DIFFERS_FROM_KYVERNO',
  };
}
