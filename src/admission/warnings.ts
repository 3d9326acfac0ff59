import type { Outcome } from '../engine/outcome.ts';
import { failureText } from './failure-text.ts';
import { modeOf } from './policy-mode.ts';

/** Limits of the API for one warning and for all of them together. */
const warningLimit = 256;
const totalLimit = 4_096;
const countReserve = 40;

/** Warnings for the author of a request: failed rules, applied rules of policies with `emitWarning`, those of CEL policies, and results of audit mode. */
export function warningsOf(outcomes: readonly Outcome[], audited: readonly Outcome[]): readonly string[] {
  const warnings: string[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === 'failed') warnings.push(`${title(outcome)}: ${failureText(outcome)}`);
    else if (outcome.status === 'applied' && outcome.policy.emitWarning)
      warnings.push(`${title(outcome)}: ${outcome.message}`);
    addOwnWarnings(outcome, warnings);
  }
  for (const outcome of audited) {
    if (outcome.status === 'failed') warnings.push(`${title(outcome)}: ${failureText(outcome)}`);
    else if (outcome.status === 'applied')
      warnings.push(`${title(outcome)}: would change ${outcome.patch.map(({ path }) => path).join(', ')}`);
    addOwnWarnings(outcome, warnings);
  }
  return warnings.length === 0 ? warnings : withinLimits(warnings);
}

function addOwnWarnings(outcome: Outcome, warnings: string[]): void {
  if (!('warnings' in outcome)) return;
  for (const text of outcome.warnings ?? []) warnings.push(`${title(outcome)}: ${text}`);
}

function title({ policy, rule }: Outcome): string {
  return `policy ${policy.key}.${rule.name}${modeOf(policy) === 'audit' ? ' (audit)' : ''}`;
}

/** Truncates each warning and the list. The last entry counts the omitted warnings. */
export function withinLimits(warnings: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let total = 0;
  for (const [index, warning] of warnings.entries()) {
    const text = truncate(printable(warning));
    const isLast = index === warnings.length - 1;
    if (total + byteLength(text) > totalLimit - (isLast ? 0 : countReserve)) {
      kept.push(`${warnings.length - index} more warnings`);
      break;
    }
    total += byteLength(text);
    kept.push(text);
  }
  return kept;
}

function truncate(text: string): string {
  if (text.length <= warningLimit) return text;
  const isPair = /[\ud800-\udbff]/.test(text.charAt(warningLimit - 2));
  return `${text.slice(0, warningLimit - (isPair ? 2 : 1))}…`;
}

/** The API server sends warnings in an HTTP header. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').replaceAll(/\p{Cs}/gu, '\ufffd');
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
