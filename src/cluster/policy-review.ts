import { MalformedReview } from '../admission/review-request.ts';
import { adviseOnPolicy } from '../analysis/advice/advice.ts';
import { failingRuleProblems } from '../analysis/interplay/failing-rules.ts';
import { backgroundRules } from '../background/background-rule.ts';
import { adviseOnGeneration } from '../convert/forms/generation.ts';
import { equal } from '../json/equal.ts';
import { readObject, readText } from '../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { type CelCompilers, celDocumentType } from '../policy/cel-documents.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import { isMutatingPolicy } from '../policy/policy-id.ts';
import { type PolicyLimits, sizeProblem } from '../policy/policy-limits.ts';
import type { Problem } from '../problem.ts';
import type { ApiClient } from './api/client.ts';
import type { KindTable } from './api/discovery.ts';
import { accessText, accessWarnings, missingAccess, missingRole } from './background/access.ts';
import { generateProblems, staleWarnings } from './background/generate-review.ts';
import type { BackgroundIdentity } from './background/identity.ts';
import { globalContextProblems } from './context/global-context-check.ts';
import { exceptionOf, policyOf } from './policies/catalog.ts';
import { authoredPolicy } from './policies/stored-policy.ts';
import { createTimeBudget, systemTimeBudget, type TimeBudget } from './policies/time-budget.ts';
import { celResources, unservedResources } from './webhooks/cel-entries.ts';
import { interestsOf, triggerInterestsOf } from './webhooks/rules.ts';

export interface PolicyReviewOptions {
  readonly client: ApiClient;
  readonly cel: CelCompilers;
  /** Policies that this installation does not apply are not reviewed. */
  readonly selects?: ((policy: JsonObject) => boolean) | undefined;
  readonly kinds: () => KindTable;
  /** The user of the background controller; absent if background processing is disabled. */
  readonly backgroundIdentity?: (() => Promise<BackgroundIdentity>) | undefined;
  readonly exceptionNamespaces: readonly string[];
  readonly limits?: PolicyLimits | undefined;
  /** The time that the policies of a namespace may take. */
  readonly budget?: TimeBudget | undefined;
}

export interface PolicyVerdict {
  /** All errors; empty if the document is accepted. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** The document was not reviewed: too many were. */
  readonly isTooSoon?: true | undefined;
}

/** The first concerns files; the second is an error here, with the limits of this server. */
const omittedAdvice: ReadonlySet<Problem['code']> = new Set([
  'KYM_DIFFERS_FROM_KYVERNO',
  'KYM_INPUT_TOO_LARGE',
]);
const accepted: PolicyVerdict = { errors: [], warnings: [] };
/** The API server truncates longer warnings. */
const longestWarning = 256;

/** Reviews policies, exceptions and global context entries when they are created or updated. */
export type PolicyReviewer = (body: Json) => Promise<JsonObject>;

export function createPolicyReviewer(options: PolicyReviewOptions): PolicyReviewer {
  const { budget = createTimeBudget(systemTimeBudget) } = options;
  return async (body) => {
    const request = isObject(body) ? readObject(body, 'request') : undefined;
    const uid = readText(request ?? {}, 'uid') ?? '';
    if (request === undefined || uid === '') throw new MalformedReview('the AdmissionReview has no request');
    const { errors, warnings, isTooSoon } = await judge(request, options, budget);
    const response = {
      uid,
      allowed: errors.length === 0,
      ...(errors.length === 0 ? {} : { status: isTooSoon ? tooSoon(errors) : denial(errors) }),
      ...(warnings.length === 0 ? {} : { warnings: warnings.map(cut) }),
    };
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
  };
}

function denial(errors: readonly string[]): JsonObject {
  const message =
    errors.length === 1
      ? (errors[0] ?? '')
      : `${errors.length} problems:\n${errors.map((error) => `- ${error}`).join('\n')}`;
  return { status: 'Failure', reason: 'Invalid', code: 422, message };
}

function tooSoon([message = '']: readonly string[]): JsonObject {
  return { status: 'Failure', reason: 'TooManyRequests', code: 429, message };
}

/** Any tenant may send policies without storing them, and compiling one blocks all reviews. */
async function judge(
  request: JsonObject,
  options: PolicyReviewOptions,
  budget: TimeBudget,
): Promise<PolicyVerdict> {
  const object = readObject(request, 'object');
  const old = readObject(request, 'oldObject');
  if (object === undefined || (old !== undefined && isOnlyMetadataChange(old, object))) return accepted;
  const namespace = readText(readObject(object, 'metadata') ?? {}, 'namespace') ?? '';
  if (namespace === '') return judgeObject(object, old, options);
  const seconds = Math.ceil(budget.waitMs(namespace) / 1_000);
  if (seconds > 0) {
    const message = `the policies of namespace ${namespace} took too much time to compile: try again in ${seconds} s, or change them less often`;
    return { errors: [message], warnings: [], isTooSoon: true };
  }
  // Compiles before it waits for anything.
  return budget.spend(namespace, () => judgeObject(object, old, options));
}

async function judgeObject(
  object: JsonObject,
  old: JsonObject | undefined,
  options: PolicyReviewOptions,
): Promise<PolicyVerdict> {
  switch (readText(object, 'kind')) {
    case 'ClusterPolicy':
    case 'Policy':
    case 'MutatingPolicy':
    case 'NamespacedMutatingPolicy':
      return options.selects?.(object) === false ? accepted : judgePolicy(object, old, options);
    case 'PolicyException':
      return judgeException(object, options);
    case 'GlobalContextEntry':
      return { errors: globalContextProblems(object), warnings: [] };
    default:
      return accepted;
  }
}

/** Finalizers and labels of an invalid policy can be changed, so that it can be deleted. */
function isOnlyMetadataChange(old: JsonObject, object: JsonObject): boolean {
  if (readText(readObject(object, 'metadata') ?? {}, 'deletionTimestamp') !== undefined) return true;
  return (
    equal(old['spec'] ?? null, object['spec'] ?? null) && equal(annotationsOf(old), annotationsOf(object))
  );
}

function annotationsOf(object: JsonObject): JsonObject {
  return readObject(readObject(object, 'metadata') ?? {}, 'annotations') ?? {};
}

async function judgePolicy(
  object: JsonObject,
  old: JsonObject | undefined,
  options: PolicyReviewOptions,
): Promise<PolicyVerdict> {
  const tooLarge = sizeProblem(object, options.limits);
  if (tooLarge !== undefined) return { errors: [textOf(tooLarge)], warnings: [] };
  const document = authoredPolicy(object);
  const source = { file: readText(readObject(object, 'metadata') ?? {}, 'name') ?? '' };
  const { policy, problems } = policyOf(object, source.file, options.cel);
  const errors = problems.filter(({ severity }) => severity === 'error').map(textOf);
  const isCel = celDocumentType(document) !== undefined;
  const advice = isCel
    ? adviseOnGeneration(document, source)
    : adviseOnPolicy(document, source).filter(({ code }) => !omittedAdvice.has(code));
  const failing = policy === undefined || isCel ? [] : failingRuleProblems(policy, source);
  const warnings = [
    ...problems.filter(({ severity }) => severity === 'warning'),
    ...advice,
    ...failing,
  ].flatMap(warningTexts);
  if (policy === undefined) return { errors, warnings };
  const access = await judgeAccess(document, policy, options);
  return {
    errors: [...errors, ...generateProblems(document, options.kinds()), ...access.errors],
    warnings: [
      ...warnings,
      ...scopeWarnings(policy),
      ...kindWarnings(policy, options.kinds()),
      ...criticalKindWarnings(policy, options.kinds()),
      ...(old === undefined ? [] : staleWarnings(authoredPolicy(old), document)),
      ...access.warnings,
    ],
  };
}

function scopeWarnings({ apiVersion, kind, namespace }: CompiledPolicy): readonly string[] {
  if (apiVersion !== 'kyverno.io/v1alpha1' || kind !== 'Policy') return [];
  return [
    `in a cluster a Policy applies only to its own namespace (${namespace}); \`kymera convert\` writes a ClusterPolicy that applies to all namespaces`,
  ];
}

function kindWarnings(policy: CompiledPolicy, kinds: KindTable): readonly string[] {
  const unknown = isMutatingPolicy(policy)
    ? unservedResources(policy, kinds)
    : [interestsOf, triggerInterestsOf].flatMap((of) => of(policy, kinds).unknownKinds);
  return [...new Set(unknown)].map(
    (kind) => `the API server does not serve ${kind}; the rule applies when it does`,
  );
}

/** Kinds on which the cluster or this program depends, by `resource.group`, with the effect of a policy on them. */
const criticalKinds: ReadonlyMap<string, string> = new Map([
  ['nodes.', 'while the policy fails, nodes cannot join the cluster or report their status'],
  ['leases.coordination.k8s.io', 'while the policy fails, node heartbeats and leader election fail'],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'while the policy fails, policies cannot be installed or upgraded',
  ],
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
    (name) =>
      [
        `${name}.admissionregistration.k8s.io`,
        'API servers do not call webhooks for it, so the rule never runs',
      ] as const,
  ),
  ['updaterequests.kyverno.io', 'while the policy fails, mutateExisting and generate rules do not run'],
  ...['clusterpolicies', 'policies', 'policyexceptions', 'globalcontextentries'].map(
    (name) => [`${name}.kyverno.io`, 'while the policy fails, policies cannot be fixed'] as const,
  ),
  ...['kymeraclusterpolicies', 'kymerapolicies'].map(
    (name) => [`${name}.kymera.io`, 'while the policy fails, policies cannot be fixed'] as const,
  ),
  ...['mutatingpolicies', 'namespacedmutatingpolicies', 'policyexceptions'].map(
    (name) => [`${name}.policies.kyverno.io`, 'while the policy fails, policies cannot be fixed'] as const,
  ),
  ['policies.policy.nirmata.io', 'while the policy fails, policies cannot be fixed'],
]);

/** Wildcards do not match these kinds, so the author has named them. */
function criticalKindWarnings(policy: CompiledPolicy, kinds: KindTable): readonly string[] {
  if (policy.namespace !== undefined) return [];
  const matched = [interestsOf, triggerInterestsOf].flatMap((of) => [
    ...of(policy, kinds).interests.values(),
  ]);
  const names = new Set([
    ...matched.map(({ group, resource }) => `${resource.split('/')[0]}.${group}`),
    ...(isMutatingPolicy(policy) ? celResources(policy) : []),
  ]);
  return [...names].flatMap((name) => {
    const effect = criticalKinds.get(name);
    return effect === undefined ? [] : [`the policy matches ${name.replace(/\.$/, '')}: ${effect}`];
  });
}

/** Missing permissions to write are errors; missing permissions to read are warnings. */
async function judgeAccess(
  document: JsonObject,
  policy: CompiledPolicy,
  options: PolicyReviewOptions,
): Promise<PolicyVerdict> {
  if (backgroundRules(policy).length === 0 || options.backgroundIdentity === undefined) return accepted;
  const identity = await options.backgroundIdentity();
  const missing = await missingAccess(options.client, identity, document, options.kinds());
  const { toAct } = missing;
  if (toAct.length === 0)
    return { errors: [], warnings: accessWarnings(missing).map((warning) => `${warning}: see kymera rbac`) };
  const errors = [...groupByPointer(toAct)].map(
    ([pointer, accesses]) =>
      `${pointer}: auth check fails, additional privileges are required for '${identity.user}': ${accessText(accesses)}`,
  );
  return { errors: [...errors, missingRole(policy.key, missing)], warnings: [] };
}

function groupByPointer<T extends { readonly pointer: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(item.pointer, [...(groups.get(item.pointer) ?? []), item]);
  return groups;
}

function judgeException(
  object: JsonObject,
  { cel, exceptionNamespaces, limits }: PolicyReviewOptions,
): PolicyVerdict {
  const tooLarge = sizeProblem(object, limits);
  if (tooLarge !== undefined) return { errors: [textOf(tooLarge)], warnings: [] };
  const { problems } = exceptionOf(object, 'exception', cel);
  const namespace = readText(readObject(object, 'metadata') ?? {}, 'namespace') ?? '';
  const isCounted = exceptionNamespaces.includes('*') || exceptionNamespaces.includes(namespace);
  const reason =
    exceptionNamespaces.length === 0
      ? 'PolicyExceptions are disabled: no namespace is configured for them'
      : `PolicyExceptions apply only from ${exceptionNamespaces.join(', ')}, and this one is in ${namespace}`;
  return {
    errors: problems.filter(({ severity }) => severity === 'error').map(textOf),
    warnings: [
      ...problems.filter(({ severity }) => severity === 'warning').map(textOf),
      ...(isCounted ? [] : [reason]),
    ],
  };
}

/** A hint that would be cut off is a warning of its own. */
function warningTexts(problem: Problem): readonly string[] {
  const text = textOf(problem);
  const { hint, rule } = problem;
  if (text.length <= longestWarning || hint === undefined) return [text];
  return [textOf({ ...problem, hint: undefined }), `${rule === undefined ? '' : `(rule ${rule}) `}${hint}`];
}

function textOf({ pointer, message, hint, rule }: Problem): string {
  const place = pointer === '' ? '/' : pointer;
  return `${place}${rule === undefined ? '' : ` (rule ${rule})`}: ${message}${hint === undefined ? '' : `. ${hint}`}`;
}

function cut(text: string): string {
  return text.length <= longestWarning ? text : `${text.slice(0, longestWarning - 1)}…`;
}
