import { nameOf } from '../json/metadata.ts';
import { readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../problem.ts';
import type { AdmissionPolicyResult, CompiledBinding } from './cel/admission-policy.ts';
import { type CelCompilers, type CelDocumentType, celDocumentType } from './cel-documents.ts';
import { compileException, type ExceptionResult } from './compile/exception.ts';
import { compilePolicy, type PolicyResult } from './compile/policy.ts';
import type { CompiledException, CompiledPolicy } from './compiled.ts';
import { readDocuments, type SourceDocument, type SourceFile } from './documents.ts';
import { otherDocumentProblem, policyVersions } from './other-documents.ts';
import { type PolicyLimits, sizeProblem } from './policy-limits.ts';
import type { PolicySource } from './problem-collector.ts';

export interface LoadResult {
  /** In input order; policies with errors are omitted. */
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  /** GlobalContextEntry documents, as written. */
  readonly globalContext: readonly JsonObject[];
  readonly problems: readonly Problem[];
  /** Documents of other kinds. */
  readonly ignored: readonly IgnoredDocument[];
}

export interface IgnoredDocument {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export interface LoadOptions {
  /** Refuse larger policies, as a server does. */
  readonly limits?: PolicyLimits | undefined;
  /** Compiles CEL policies: see `celCompilersFor`. Without it they are ignored documents. */
  readonly cel?: CelCompilers | undefined;
  /** Bindings of MutatingAdmissionPolicies; by default those in the files. */
  readonly bindings?: readonly CompiledBinding[] | undefined;
  /** Kyverno's exact behaviour where ours is deliberately different. */
  readonly strictCompat?: boolean | undefined;
  /** Additional warnings about a policy: see `adviseOnPolicy`, and `adviseOnGeneration` for CEL policies. */
  readonly advise?: ((document: JsonObject, source: PolicySource) => readonly Problem[]) | undefined;
}

/**
 * Reads and compiles policies, exceptions and global context entries.
 *
 * @example
 * const { policies, problems } = loadDocuments([{ file: 'policy.yaml', text }]);
 */
export function loadDocuments(files: readonly SourceFile[], options: LoadOptions = {}): LoadResult {
  const policies: CompiledPolicy[] = [];
  const exceptions: CompiledException[] = [];
  const globalContext: JsonObject[] = [];
  const problems: Problem[] = [];
  const ignored: IgnoredDocument[] = [];
  const cel = options.cel === undefined ? undefined : loadCel(options.cel, options);
  for (const file of files) {
    const read = readDocuments(file);
    const found: Problem[] = [...read.problems];
    for (const document of read.documents) {
      const celType = cel === undefined ? undefined : celDocumentType(document.value);
      if (cel !== undefined && celType !== undefined) {
        const tooLarge = options.limits && sizeProblem(document.value, options.limits, document);
        if (tooLarge !== undefined) {
          found.push(tooLarge);
          continue;
        }
        const result = cel.compile(celType, document);
        found.push(...result.problems);
        if (result.policy !== undefined) found.push(...(options.advise?.(document.value, document) ?? []));
        if (result.policy !== undefined) policies.push(result.policy);
        if (result.exception !== undefined) exceptions.push(result.exception);
        continue;
      }
      switch (documentType(document.value)) {
        case 'policy': {
          const tooLarge = options.limits && sizeProblem(document.value, options.limits, document);
          if (tooLarge !== undefined) {
            found.push(tooLarge);
            break;
          }
          const result = compilePolicy(document.value, document);
          found.push(...result.problems, ...(options.advise?.(document.value, document) ?? []));
          if (result.policy !== undefined) policies.push(result.policy);
          break;
        }
        case 'exception': {
          const result = compileException(document.value, document);
          found.push(...result.problems);
          if (result.exception !== undefined) exceptions.push(result.exception);
          break;
        }
        case 'globalContext':
          globalContext.push(document.value);
          break;
        case undefined: {
          ignored.push(describe(document));
          const problem = otherDocumentProblem(document);
          if (problem !== undefined) found.push(problem);
        }
      }
    }
    problems.push(...found.sort(byPosition));
  }
  const bound = cel?.bind(policies) ?? { policies, problems: [] };
  return {
    policies: bound.policies,
    exceptions,
    globalContext,
    problems: [...problems, ...bound.problems],
    ignored,
  };
}

/** The bindings of MutatingAdmissionPolicies in files. Their problems are reported where the files are loaded. */
export function loadBindings(files: readonly SourceFile[], cel: CelCompilers): readonly CompiledBinding[] {
  return files.flatMap((file) =>
    readDocuments(file).documents.flatMap((document) => {
      if (celDocumentType(document.value) !== 'admissionBinding') return [];
      return cel.compileBinding(document.value, document).binding ?? [];
    }),
  );
}

/** Compiles CEL documents one by one, and joins policies with their bindings when all are known. */
function loadCel(cel: CelCompilers, { strictCompat = false, bindings: given }: LoadOptions) {
  const bindings: CompiledBinding[] = [];
  const binders = new Map<CompiledPolicy, NonNullable<AdmissionPolicyResult['bind']>>();
  return {
    compile(type: CelDocumentType, document: SourceDocument): PolicyResult & ExceptionResult {
      const { value } = document;
      switch (type) {
        case 'mutatingPolicy':
          return cel.compileMutatingPolicy(value, document, { strict: strictCompat });
        case 'celException':
          return cel.compileException(value, document);
        case 'admissionPolicy': {
          const { policy, problems, bind } = cel.compileAdmissionPolicy(value, document);
          if (policy !== undefined && bind !== undefined) binders.set(policy, bind);
          return { policy, problems };
        }
        case 'admissionBinding': {
          const { binding, problems } = cel.compileBinding(value, document);
          if (binding !== undefined) bindings.push(binding);
          return { problems };
        }
      }
    },
    bind(policies: readonly CompiledPolicy[]): Pick<LoadResult, 'policies' | 'problems'> {
      const problems: Problem[] = [];
      const bound = policies.map((policy) => {
        const result = binders.get(policy)?.(given ?? bindings);
        problems.push(...(result?.problems ?? []));
        return result?.policy ?? policy;
      });
      return { policies: bound, problems };
    },
  };
}

function byPosition(left: Problem, right: Problem): number {
  return (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0);
}

function documentType(value: JsonObject): 'policy' | 'exception' | 'globalContext' | undefined {
  const apiVersion = readText(value, 'apiVersion') ?? '';
  const group = apiVersion.slice(0, Math.max(apiVersion.indexOf('/'), 0));
  switch (readText(value, 'kind') ?? '') {
    case 'ClusterPolicy':
    case 'Policy':
      return policyVersions.includes(apiVersion) ? 'policy' : undefined;
    case 'PolicyException':
      return group === 'kyverno.io' || group === 'kymera.io' ? 'exception' : undefined;
    case 'GlobalContextEntry':
      return group === 'kyverno.io' || group === 'kymera.io' ? 'globalContext' : undefined;
    default:
      return undefined;
  }
}

function describe({ file, value }: SourceDocument): IgnoredDocument {
  return {
    file,
    apiVersion: readText(value, 'apiVersion') ?? '',
    kind: readText(value, 'kind') ?? '',
    name: nameOf(value),
  };
}
