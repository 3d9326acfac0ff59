import { didYouMean } from '../expression/did-you-mean.ts';
import { nameOf } from '../json/metadata.ts';
import { readText } from '../json/read-field.ts';
import type { Problem } from '../problem.ts';
import type { SourceDocument } from './documents.ts';

/** apiVersions of ClusterPolicy and Policy. */
export const policyVersions: readonly string[] = [
  'kyverno.io/v1',
  'kyverno.io/v2',
  'kyverno.io/v2beta1',
  'kyverno.io/v1alpha1',
  'policy.nirmata.io/v1alpha1',
  'kymera.io/v1',
];

const policyKinds = ['ClusterPolicy', 'Policy', 'PolicyException', 'GlobalContextEntry'];

/** Kinds of Kyverno policies without a mutation, in any version. */
const unenforcedKinds =
  /^(?:Namespaced)?(?:ImageValidating|Validating|Deleting)Policy$|^(?:Cluster)?CleanupPolicy$/;

/** The problem of a document that is not a policy of this program, if its author probably expects it to be one. */
export function otherDocumentProblem(document: SourceDocument): Problem | undefined {
  const { value } = document;
  const apiVersion = readText(value, 'apiVersion') ?? '';
  const kind = readText(value, 'kind') ?? '';
  const isOfKyverno = /^(?:policies\.)?kyverno\.io\//.test(apiVersion);
  if (isOfKyverno && unenforcedKinds.test(kind)) return unenforced(document, kind);
  return misspelled(document, apiVersion, kind);
}

function unenforced(document: SourceDocument, kind: string): Problem {
  const instead = /^(?:Namespaced)?ValidatingPolicy$/.test(kind)
    ? 'Kyverno or a ValidatingAdmissionPolicy'
    : 'Kyverno';
  return {
    code: 'KYM_RULE_NOT_RUN',
    severity: 'warning',
    message: `a ${kind} is not run here: keep ${instead} for it`,
    ...about(document, 'kind'),
  };
}

/** `ClusterPolcy`, `kyverno.io/v3`: without an error the policy would be passed over. */
function misspelled(document: SourceDocument, apiVersion: string, kind: string): Problem | undefined {
  const [group = ''] = apiVersion.split('/');
  const isOurGroup = ['kyverno.io', 'kymera.io', 'policy.nirmata.io'].includes(group);
  // CEL policies have exceptions of their own.
  if (group === 'policies.kyverno.io') return undefined;
  if (policyKinds.includes(kind)) {
    // Other groups have a Policy, too.
    const intended = kind === 'Policy' ? undefined : didYouMean(apiVersion, policyVersions);
    const version = isOurGroup || (apiVersion === '' && kind !== 'Policy') ? 'kyverno.io/v1' : intended;
    if (version === undefined) return undefined;
    return {
      code: 'KYM_FIELD_VALUE',
      severity: 'error',
      message: apiVersion === '' ? `a ${kind} needs an apiVersion` : `${apiVersion} has no ${kind}`,
      hint: `Did you mean ${version}? Known: ${policyVersions.join(', ')}.`,
      ...about(document, apiVersion === '' ? 'kind' : 'apiVersion'),
    };
  }
  const similar = isOurGroup ? didYouMean(kind, policyKinds) : undefined;
  if (similar === undefined) return undefined;
  return {
    code: 'KYM_FIELD_VALUE',
    severity: 'error',
    message: `${apiVersion} has no kind ${kind === '' ? '""' : kind}`,
    hint: `Did you mean ${similar}? Known: ${policyKinds.join(', ')}.`,
    ...about(document, 'kind'),
  };
}

function about({ file, value, positionOf }: SourceDocument, field: string) {
  return { pointer: `/${field}`, file, ...positionOf([field]), policy: nameOf(value) };
}
