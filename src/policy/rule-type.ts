import { read } from '../json/read-field.ts';
import { isArray, isObject, type JsonObject } from '../json/value.ts';
import type { Reporter } from '../problem.ts';

const types = ['mutate', 'validate', 'generate', 'verifyImages'] as const;
export type RuleType = (typeof types)[number];

/** The action of a rule; undefined (and reported) when it has none or several. An empty block does not count. */
export function ruleType(rule: JsonObject, reporter?: Reporter): RuleType | undefined {
  const [type, ...others] = types.filter((candidate) => {
    const block = read(rule, candidate);
    return isArray(block)
      ? block.length > 0
      : isObject(block) && Object.values(block).some((value) => value !== null);
  });
  if (type === undefined) {
    reporter?.error([], 'KYM_RULE_TYPE', `the rule has no action: it needs one of ${types.join(', ')}`);
  } else if (others.length > 0) {
    const message = `a rule can have only one action; found ${[type, ...others].join(', ')}`;
    reporter?.error([], 'KYM_RULE_TYPE', message, 'Write a separate rule for each.');
    return undefined;
  }
  return type;
}

const listedRules = 3;

/** The sentence about rules that this program does not run; it fits into one warning of the API server. */
export function notRunText(
  others: readonly { readonly name: string; readonly type: string }[],
  ruleCount: number,
): string {
  const names = others.slice(0, listedRules).map(({ name, type }) => `${name} (${type})`);
  const more = others.length > listedRules ? ` and ${others.length - listedRules} more` : '';
  const isOne = others.length === 1;
  const which =
    others.length === ruleCount
      ? 'no rule of this policy is'
      : `${others.length} of ${ruleCount} rules ${isOne ? 'is' : 'are'} not`;
  const them = isOne ? 'it' : 'them';
  const isOnly = (type: RuleType) => others.every((other) => other.type === type);
  const instead = isOnly('generate')
    ? 'a generate rule needs kyverno.io/v1, and the kind and name of its target'
    : isOnly('verifyImages')
      ? `keep Kyverno for ${them}`
      : `keep Kyverno or a ValidatingAdmissionPolicy for ${them}`;
  return `${which} run here: ${names.join(', ')}${more}; ${instead}`;
}
