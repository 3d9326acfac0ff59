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
