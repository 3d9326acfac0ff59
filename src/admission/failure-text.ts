import type { Failure, Outcome } from '../engine/outcome.ts';
import { errorTable } from '../errors.ts';
import { stringifyJson } from '../json/json-text.ts';
import { formatPointer } from '../json/pointer.ts';
import type { Path } from '../json/value.ts';
import type { CompiledRule } from '../policy/compiled.ts';

/**
 * Describes why a rule failed, using only words from the policy. The detail of a failure may quote values of objects and of
 * context data, which must not appear in answers and logs.
 */
export function failureText(outcome: Extract<Outcome, { status: 'failed' }>): string {
  const { failure, rule } = outcome;
  const locations = [
    `rule ${formatPointer(failure.rulePath)}`,
    ...(failure.objectPath === undefined ? [] : [`object ${objectLocation(failure.objectPath, rule)}`]),
  ];
  const reason = policyWords(failure, rule) ?? errorTable[failure.code].cause.replace(/\.$/, '');
  const cause = [...expressionsOf(failure.detail, rule), reason].join(': ');
  // A message consists of its stage and the detail.
  const stage = outcome.message.slice(0, outcome.message.length - failure.detail.length);
  return `${stage}${cause} (${locations.join(', ')}) [${failure.code}]`;
}

/** The expressions that could not be evaluated, outermost first, as the rule has them. */
function expressionsOf(detail: string, rule: CompiledRule): readonly string[] {
  const found = detail.matchAll(/failed to (?:resolve (.+?) at path |evaluate list (.+?): )/gs);
  return [...found].flatMap(([, variable, list]) => {
    const text = variable ?? list ?? '';
    if (!isInRule(text, rule)) return [];
    return [list === undefined ? `failed to resolve ${text}` : `failed to evaluate list ${text}`];
  });
}

/** The most useful parts of a detail, as far as they quote only the rule. */
function policyWords({ detail, reason }: Failure, rule: CompiledRule): string | undefined {
  const entry = /(?:^|: )context entry "([^"]+)": /.exec(detail);
  const rest = entry === null ? detail : detail.slice(entry.index + entry[0].length);
  const parts: string[] = [];
  if (entry?.[1] !== undefined && isInRule(entry[1], rule)) parts.push(`context entry "${entry[1]}"`);
  const key = /Unknown key "([^"]+)" in path/.exec(rest)?.[1];
  if (key !== undefined && isInRule(key, rule)) parts.push(`Unknown key "${key}" in path`);
  const size = /context size limit exceeded: \d+ bytes exceeds limit of \d+ bytes$/.exec(rest)?.[0];
  if (size !== undefined) parts.push(size);
  if (reason !== undefined) parts.push(reason);
  return parts.length === 0 ? undefined : parts.join(': ');
}

/** Masks names that do not stand in the rule: they may be values of variables. */
function objectLocation(path: Path, rule: CompiledRule): string {
  return formatPointer(
    path.map((token) =>
      typeof token === 'number' || /^(?:\d+|-)$/.test(token) || isInRule(token, rule) ? token : '…',
    ),
  );
}

function isInRule(text: string, rule: CompiledRule): boolean {
  return stringifyJson(rule.document).includes(stringifyJson(text).slice(1, -1));
}
