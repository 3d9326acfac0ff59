import type { Outcome, Result } from '../engine/outcome.ts';
import { asciiJson } from '../json/json-text.ts';
import type { CompiledRule } from '../policy/compiled.ts';
import { failureText } from './failure-text.ts';
import { warningsOf } from './warnings.ts';

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: 'AdmissionReview';
  readonly response: AdmissionResponse;
}

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: 'JSONPatch' | undefined;
  readonly patch?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly auditAnnotations?: { readonly [appliedAnnotation]: string } | undefined;
  readonly status?:
    | {
        readonly status: 'Failure';
        readonly message: string;
        readonly code?: number | undefined;
        readonly reason?: string | undefined;
      }
    | undefined;
}

type Failed = Extract<Outcome, { status: 'failed' }>;

/** Names the rules that changed the object. The API server prefixes it with the name of the webhook. */
export const appliedAnnotation = 'mutated-by';
/** Longer lists of rules are truncated: an audit event is one line. */
const annotationLimit = 4_096;
const noOutcomes: readonly Failed[] = [];
const noPatch = '[]';

export function reviewWith(apiVersion: string, response: AdmissionResponse): AdmissionReview {
  return { apiVersion, kind: 'AdmissionReview', response };
}

/**
 * Returns a review as JSON in ASCII, which is the fastest to write to a socket. The patch is inserted as it is: most of the
 * answer is base64, which needs no escaping.
 */
export function reviewText(review: AdmissionReview): string {
  const { uid, patch, warnings, auditAnnotations } = review.response;
  if (patch === undefined) return asciiJson(review);
  const more =
    (warnings === undefined ? '' : `,"warnings":${asciiJson(warnings)}`) +
    (auditAnnotations === undefined
      ? ''
      : `,"auditAnnotations":{"${appliedAnnotation}":${appliedJson(review.response)}}`);
  return `{"apiVersion":${asciiJson(review.apiVersion)},"kind":"AdmissionReview","response":{"uid":${asciiJson(uid)},"allowed":true,"patchType":"JSONPatch","patch":"${patch}"${more}}}`;
}

/** The names of the rules that changed the object, as a JSON string in ASCII. */
export function appliedJson({ auditAnnotations }: AdmissionResponse): string {
  const text = auditAnnotations?.[appliedAnnotation] ?? '';
  return text === lastNames.text ? lastNames.json : asciiJson(text);
}

/** Allows a request unchanged. */
export function allow(uid: string, warnings: readonly string[] = []): AdmissionResponse {
  return warnings.length === 0 ? { uid, allowed: true } : { uid, allowed: true, warnings };
}

export function deny(uid: string, message: string, warnings: readonly string[] = []): AdmissionResponse {
  const denial = { uid, allowed: false, status: { status: 'Failure', message } } as const;
  return warnings.length === 0 ? denial : { ...denial, warnings };
}

/** A failed rule denies the request under Fail. Under Ignore, the changes of its policy are dropped with a warning. */
export function verdictOf(
  uid: string,
  result: Result,
  audited: readonly Outcome[] = noOutcomes,
): AdmissionResponse {
  const denials = result.failedPolicies.length === 0 ? noOutcomes : denyingOutcomes(result);
  if (denials.length > 0) {
    // The message of a denial is not repeated as a warning.
    const others = result.outcomes.filter((outcome) => !(denials as readonly Outcome[]).includes(outcome));
    return deny(uid, `mutation failed: ${denials.map(denialLine).join('; ')}`, warningsOf(others, audited));
  }
  const warnings = warningsOf(result.outcomes, audited);
  const { patchText } = result;
  if (patchText === noPatch) return allow(uid, warnings);
  const auditAnnotations = { [appliedAnnotation]: appliedRules(result) };
  const encoded = encodePatch(patchText);
  // Two literals instead of a spread: each spread would create a new hidden class.
  if (warnings.length === 0)
    return { uid, allowed: true, patchType: 'JSONPatch', patch: encoded, auditAnnotations };
  return { uid, allowed: true, patchType: 'JSONPatch', patch: encoded, warnings, auditAnnotations };
}

interface AppliedNames {
  readonly rules: readonly CompiledRule[];
  readonly text: string;
  readonly json: string;
}

/** Of the last review: consecutive reviews mostly apply the same rules. */
let lastNames: AppliedNames = { rules: [], text: '', json: '""' };

function appliedRules({ outcomes, failedPolicies }: Result): string {
  const applied = outcomes.filter(
    ({ status, policy }) => status === 'applied' && !failedPolicies.includes(policy),
  );
  const { rules } = lastNames;
  const areSame =
    applied.length === rules.length && applied.every(({ rule }, index) => rule === rules[index]);
  if (!areSame) lastNames = namesOf(applied);
  return lastNames.text;
}

function namesOf(applied: readonly Outcome[]): AppliedNames {
  const text = applied.map(({ policy, rule }) => `${policy.key}/${rule.name}`).join();
  const shown = text.length <= annotationLimit ? text : `${text.slice(0, annotationLimit - 1)}…`;
  return { rules: applied.map(({ rule }) => rule), text: shown, json: asciiJson(shown) };
}

/** The failed outcomes of policies under Fail. */
function denyingOutcomes({ outcomes, failedPolicies }: Result): readonly Failed[] {
  return outcomes.filter(
    (outcome): outcome is Failed =>
      outcome.status === 'failed' &&
      outcome.policy.failurePolicy === 'Fail' &&
      failedPolicies.includes(outcome.policy),
  );
}

function denialLine(outcome: Failed): string {
  return `policy ${outcome.policy.key}, rule ${outcome.rule.name}: ${failureText(outcome)}`;
}

const encoder = new TextEncoder();
/** Browsers have no Buffer. */
const scratch = typeof Buffer === 'undefined' ? undefined : Buffer.allocUnsafe(1 << 16);
const bytesPerUnit = 3;

/** Base64 of the UTF-8 bytes. */
export function encodePatch(text: string): string {
  if (scratch === undefined) return encodeUtf8(text);
  if (text.length * bytesPerUnit > scratch.length) return Buffer.from(text).toString('base64');
  // Twice as fast as a buffer for each patch.
  return scratch.toString('base64', 0, encoder.encodeInto(text, scratch).written);
}

export function encodeUtf8(text: string): string {
  let binary = '';
  for (const byte of encoder.encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
