import type { ElementOutcome, Outcome, SkipReason } from '../../engine/outcome.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import type { AnchorMiss } from '../../patch/compiled-patch.ts';
import type { Paint } from '../output/style.ts';
import { type Branch, dotted } from '../output/tree.ts';

/** One rule: its outcome and the reasons. */
export function ruleBranch(outcome: Outcome, paint: Paint): Branch {
  const { rule } = outcome;
  const origin = rule.autogenOf === undefined ? '' : ` (autogen of ${rule.autogenOf})`;
  const text = `${symbol(outcome, paint)} rule ${paint('bold', rule.name)}${origin}: ${outcome.status}: ${outcome.message}`;
  return { text, below: [...reasonsOf(outcome, paint), ...variableBranches(outcome, paint)] };
}

/** The values of the variables that the rule read. */
function variableBranches({ trace }: Outcome, paint: Paint): Branch[] {
  if (trace === undefined || trace.variables.length === 0) return [];
  return [
    {
      text: 'variables',
      below: trace.variables.map(({ text, value }) =>
        leaf(`{{ ${text} }} ${paint('dim', 'is')} ${short(value)}`),
      ),
    },
  ];
}

function symbol({ status }: Outcome, paint: Paint): string {
  if (status === 'applied') return paint('green', '✓');
  return status === 'failed' ? paint('red', '✗') : paint('yellow', '-');
}

function reasonsOf(outcome: Outcome, paint: Paint): Branch[] {
  switch (outcome.status) {
    case 'applied':
      return [
        ...outcome.patch.map((operation) =>
          leaf(
            `${operation.op} ${operation.path}${'value' in operation ? ` ${short(operation.value)}` : ''}`,
          ),
        ),
        ...outcome.misses.map(missLeaf),
        ...elementBranches(outcome.elements ?? [], paint),
      ];
    case 'unchanged':
      return [...outcome.misses.map(missLeaf), ...elementBranches(outcome.elements ?? [], paint)];
    case 'skipped':
      return skipBranches(outcome.reason, paint);
    case 'failed': {
      const { failure } = outcome;
      const location = leaf(`at ${dotted(failure.rulePath)} of the rule [${failure.code}]`);
      return failure.objectPath === undefined
        ? [location]
        : [location, leaf(`at ${formatPointer(failure.objectPath)} of the object`)];
    }
  }
}

function skipBranches(reason: SkipReason | { readonly type: 'null' }, paint: Paint): Branch[] {
  switch (reason.type) {
    case 'match':
      return reason.clauses.map(({ path, expected, actual }) =>
        leaf(`${dotted(path)}: the policy selects ${expected || "''"}, the object has ${actual || "''"}`),
      );
    case 'exclude':
      return [leaf(`excluded by ${dotted(reason.clause)}`)];
    case 'namespace':
      return [
        leaf(`the policy is for namespace ${reason.expected}, the object is in ${reason.actual || 'none'}`),
      ];
    case 'preconditions':
      return reason.conditions.map(({ path, key, operator, value, passed, message }) => {
        const verdict = passed ? paint('green', 'true') : paint('red', 'false');
        return leaf(
          `${dotted(path)}: ${short(key)} ${operator} ${short(value)}: ${verdict}${message === undefined ? '' : `: ${message}`}`,
        );
      });
    case 'anchor':
      return reason.misses.map(missLeaf);
    case 'exception':
      return reason.exceptions.map((name) => leaf(`exception ${name}`));
    case 'applyRules':
      return [leaf(`applyRules is One, and rule ${reason.after} was applied`)];
    case 'mutateExisting':
      return [leaf('the rule mutates existing objects, not the object of the request')];
    case 'null':
      return [leaf('the element is null')];
  }
}

function elementBranches(elements: readonly ElementOutcome[], paint: Paint): Branch[] {
  return elements.map(({ index, entry, status, reason }) => ({
    text: `${dotted(entry)}, element ${index.join('.')}: ${status}`,
    below: reason === undefined ? [] : skipBranches(reason, paint),
  }));
}

function missLeaf({ anchor, path, expected, actual }: AnchorMiss): Branch {
  const found = actual === undefined ? 'the object has no such field' : `the object has ${short(actual)}`;
  return leaf(`anchor ${anchor} at ${formatPointer(path)} expects ${short(expected)}: ${found}`);
}

function leaf(text: string): Branch {
  return { text, below: [] };
}

const longest = 120;

function short(value: Json): string {
  const text = stringifyJson(value);
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
