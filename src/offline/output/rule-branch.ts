import type { ElementOutcome, Outcome, SkipReason } from '../../engine/outcome.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { PatchOperation } from '../../json/patch/operation.ts';
import { formatPointer, parsePointer } from '../../json/pointer.ts';
import type { Json } from '../../json/value.ts';
import type { AnchorMiss } from '../../patch/compiled-patch.ts';
import type { CelTraceStep } from '../../policy/compiled-cel.ts';
import type { SecretMask } from './mask-secrets.ts';
import type { Paint } from './paint.ts';
import { type Branch, dotted } from './tree.ts';
import { visible } from './visible.ts';

/** How the tree is printed. */
export interface View {
  readonly paint: Paint;
  readonly mask: SecretMask;
}

/** One rule: its outcome and the reasons. */
export function ruleBranch(outcome: Outcome, view: View): Branch {
  const { rule } = outcome;
  const origin = rule.autogenOf === undefined ? '' : ` (autogen of ${rule.autogenOf})`;
  const text = `${symbol(outcome, view)} rule ${view.paint('bold', visible(rule.name))}${visible(origin)}: ${outcome.status}: ${visible(view.mask.text(outcome.message))}`;
  return {
    text,
    below: [
      ...reasonsOf(outcome, view),
      ...variableBranches(outcome, view),
      ...expressionBranches(outcome, view),
    ],
  };
}

/** The values of the variables that the rule read. */
function variableBranches({ trace }: Outcome, view: View): Branch[] {
  if (trace === undefined || trace.variables.length === 0) return [];
  return [
    {
      text: 'variables',
      below: trace.variables.map(({ text, value }) =>
        leaf(`{{ ${visible(text)} }} ${view.paint('dim', 'is')} ${short(view.mask.value(value, text))}`),
      ),
    },
  ];
}

const mostSteps = 12;
const literal = /^(?:["'\d-]|(?:true|false|null|object|oldObject|request|variables|params)$)/;

/** What the CEL expressions of the rule gave, and the parts that decided. */
function expressionBranches({ trace }: Outcome, view: View): Branch[] {
  return (trace?.expressions ?? []).map(({ label, steps }) => {
    const whole = steps.at(-1);
    const parts = new Map<string, CelTraceStep>();
    for (const step of steps.slice(0, -1)) {
      const isPlain = step.error !== undefined || typeof step.value !== 'object' || step.value === null;
      if (isPlain && !literal.test(step.source)) parts.set(oneLine(step.source), step);
    }
    return {
      text: `${visible(label)}: ${stepText(whole, view)}`,
      below: [...parts.values()].slice(0, mostSteps).map((step) => leaf(stepText(step, view))),
    };
  });
}

function stepText(step: CelTraceStep | undefined, view: View): string {
  if (step === undefined) return '';
  const source = visible(oneLine(step.source));
  return step.error === undefined
    ? `${source} ${view.paint('dim', 'is')} ${short(view.mask.value(step.value ?? null, step.source))}`
    : `${source} ${view.paint('red', 'fails')}: ${visible(view.mask.text(step.error))}`;
}

function symbol({ status }: Outcome, view: View): string {
  if (status === 'applied') return view.paint('green', '✓');
  return status === 'failed' ? view.paint('red', '✗') : view.paint('yellow', '-');
}

function reasonsOf(outcome: Outcome, view: View): Branch[] {
  switch (outcome.status) {
    case 'applied':
      return [
        ...outcome.patch.map((operation) => operationLeaf(operation, view.mask)),
        ...outcome.misses.map((miss) => missLeaf(miss, view)),
        ...elementBranches(outcome.elements ?? [], view),
        ...(outcome.warnings ?? []).map((text) => warningLeaf(text, view)),
      ];
    case 'unchanged':
      return [
        ...outcome.misses.map((miss) => missLeaf(miss, view)),
        ...elementBranches(outcome.elements ?? [], view),
        ...(outcome.warnings ?? []).map((text) => warningLeaf(text, view)),
      ];
    case 'skipped':
      return skipBranches(outcome.reason, view);
    case 'failed': {
      const { failure } = outcome;
      const { rulePath, objectPath, code } = failure;
      const location = leaf(visible(`at ${dotted(rulePath)} of the rule [${code}]`), { rulePath });
      return objectPath === undefined
        ? [location]
        : [location, leaf(visible(`at ${formatPointer(objectPath)} of the object`), { objectPath })];
    }
  }
}

function warningLeaf(text: string, { paint, mask }: View): Branch {
  return leaf(`${paint('yellow', 'warning')}: ${visible(mask.text(text))}`);
}

/** One operation of a patch. */
export function operationLeaf(operation: PatchOperation, mask: SecretMask): Branch {
  const value = 'value' in operation ? ` ${short(mask.value(operation.value, operation.path))}` : '';
  return leaf(`${operation.op} ${visible(operation.path)}${value}`, {
    objectPath: parsePointer(operation.path),
  });
}

function skipBranches(reason: SkipReason | { readonly type: 'null' }, view: View): Branch[] {
  switch (reason.type) {
    case 'match':
      return reason.clauses.map(({ path, expected, actual }) =>
        leaf(
          visible(
            `${dotted(path)}: the policy selects ${expected || "''"}, the object has ${actual || "''"}`,
          ),
          { rulePath: path },
        ),
      );
    case 'exclude':
      return [leaf(`excluded by ${dotted(reason.clause)}`, { rulePath: reason.clause })];
    case 'namespace':
      return [
        leaf(
          visible(
            `the policy is for namespace ${reason.expected}, the object is in ${reason.actual || 'none'}`,
          ),
        ),
      ];
    case 'preconditions':
      return reason.conditions.map(({ path, key, operator, value, passed, message }) => {
        const verdict = passed ? view.paint('green', 'true') : view.paint('red', 'false');
        return leaf(
          `${dotted(path)}: ${short(view.mask.value(key, ''))} ${visible(operator)} ${short(view.mask.value(value, ''))}: ${verdict}${message === undefined ? '' : `: ${visible(view.mask.text(message))}`}`,
          { rulePath: path },
        );
      });
    case 'anchor':
      return reason.misses.map((miss) => missLeaf(miss, view));
    case 'exception':
      return reason.exceptions.map((name) => leaf(visible(`exception ${name}`)));
    case 'applyRules':
      return [leaf(visible(`applyRules is One, and rule ${reason.after} was applied`))];
    case 'matchCondition':
      return [
        leaf(visible(`${dotted(reason.path)}: ${oneLine(reason.expression)}: ${view.paint('red', 'false')}`)),
      ];
    case 'parameter':
      return [leaf(visible(reason.detail))];
    case 'mutateExisting':
      return [leaf('the rule mutates existing objects, not the object of the request')];
    case 'null':
      return [leaf('the element is null')];
  }
}

function elementBranches(elements: readonly ElementOutcome[], view: View): Branch[] {
  return elements.map(({ index, entry, status, reason }) => ({
    text: `${dotted(entry)}, element ${index.join('.')}: ${status}`,
    below: reason === undefined ? [] : skipBranches(reason, view),
    rulePath: entry,
  }));
}

function missLeaf({ anchor, path, expected, actual, note }: AnchorMiss, { mask }: View): Branch {
  const pointer = formatPointer(path);
  if (note !== undefined) return leaf(visible(`${anchor} ${short(expected)} at ${pointer}: ${note}`));
  const found =
    actual === undefined
      ? 'the object has no such field'
      : `the object has ${short(mask.value(actual, pointer))}`;
  return leaf(
    visible(`anchor ${anchor} at ${pointer} expects ${short(mask.value(expected, pointer))}: ${found}`),
    { objectPath: path },
  );
}

function leaf(text: string, about: Pick<Branch, 'rulePath' | 'objectPath'> = {}): Branch {
  return { text, below: [], ...about };
}

function oneLine(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}

const longest = 120;

function short(value: Json): string {
  const text = visible(stringifyJson(value));
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
