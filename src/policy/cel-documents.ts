import { readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { AdmissionPolicyResult, BindingResult } from './cel/admission-policy.ts';
import type { CelOptions } from './cel/mutating-policy.ts';
import type { ExceptionResult } from './compile/exception.ts';
import type { PolicyResult } from './compile/policy.ts';
import type { PolicySource } from './problem-collector.ts';

/** Compiles the documents of CEL policies. Loading it loads the language and the schemas of built-in kinds. */
export interface CelCompilers {
  compileMutatingPolicy(document: JsonObject, source: PolicySource, options: CelOptions): PolicyResult;
  compileAdmissionPolicy(document: JsonObject, source: PolicySource): AdmissionPolicyResult;
  compileBinding(document: JsonObject, source: PolicySource): BindingResult;
  compileException(document: JsonObject, source: PolicySource): ExceptionResult;
}

export type CelDocumentType = 'mutatingPolicy' | 'admissionPolicy' | 'admissionBinding' | 'celException';

const kyvernoVersions = /^policies\.kyverno\.io\/v1((alpha|beta)1)?$/;
const kubernetesVersions = /^admissionregistration\.k8s\.io\/v1((alpha|beta)1)?$/;

/** Undefined for documents of other kinds. */
export function celDocumentType(document: JsonObject): CelDocumentType | undefined {
  const apiVersion = readText(document, 'apiVersion') ?? '';
  switch (readText(document, 'kind') ?? '') {
    case 'MutatingPolicy':
    case 'NamespacedMutatingPolicy':
      return kyvernoVersions.test(apiVersion) ? 'mutatingPolicy' : undefined;
    case 'PolicyException':
      return kyvernoVersions.test(apiVersion) ? 'celException' : undefined;
    case 'MutatingAdmissionPolicy':
      return kubernetesVersions.test(apiVersion) ? 'admissionPolicy' : undefined;
    case 'MutatingAdmissionPolicyBinding':
      return kubernetesVersions.test(apiVersion) ? 'admissionBinding' : undefined;
    default:
      return undefined;
  }
}

const groups = /policies\.kyverno\.io\/|MutatingAdmissionPolicy/;

/** Whether a file may have CEL policies. Annotations of other policies are keys below the same group. */
export function mayHaveCelPolicies(text: string): boolean {
  return groups.test(text);
}

/** The compilers, if one of the files may need them. */
export async function celCompilersFor(
  files: readonly { readonly text: string }[],
): Promise<CelCompilers | undefined> {
  return files.some(({ text }) => mayHaveCelPolicies(text)) ? loadCelCompilers() : undefined;
}

export async function loadCelCompilers(): Promise<CelCompilers> {
  return (await import('./cel/language.ts')).celCompilers;
}
