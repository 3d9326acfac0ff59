/** A part of a JSONPatch expression. */
export type Step = Operation | Conditional | Assertion | Loop;

export interface Operation {
  readonly type: 'operation';
  readonly op: 'add' | 'replace' | 'remove' | 'copy' | 'move';
  /** Expressions. */
  readonly path: string;
  readonly from?: string | undefined;
  readonly value?: string | undefined;
}

/** Steps for objects for which the condition holds, and others for the rest. */
export interface Conditional {
  readonly type: 'if';
  readonly condition: string;
  readonly steps: readonly Step[];
  readonly otherwise?: readonly Step[] | undefined;
  /** Creates a parent that is missing. In a loop over elements that share the parent it happens once, before the loop. */
  readonly isParent?: boolean | undefined;
}

/** The expression fails where the condition does not hold. */
interface Assertion {
  readonly type: 'assert';
  readonly condition: string;
  readonly steps: readonly Step[];
}

/** Steps for each item of a list that fulfils the condition. */
export interface Loop {
  readonly type: 'each';
  readonly list: string;
  readonly index: string;
  readonly item: string;
  readonly condition?: string | undefined;
  readonly steps: readonly Step[];
  readonly reversed?: boolean | undefined;
}

export function add(path: string, value: string): Operation {
  return { type: 'operation', op: 'add', path, value };
}

export function remove(path: string): Operation {
  return { type: 'operation', op: 'remove', path };
}

export function when(condition: string, steps: readonly Step[], otherwise?: readonly Step[]): Conditional {
  return { type: 'if', condition, steps, otherwise };
}

/** Creates a map or a list where the condition holds. */
export function createParent(condition: string, path: string, value: '{}' | '[]'): Conditional {
  return { type: 'if', condition, steps: [add(path, value)], isParent: true };
}

/** Prints steps as an expression that gives a list of JSONPatch. */
export function printSteps(steps: readonly Step[]): string {
  const terms: string[] = [];
  let operations: string[] = [];
  const flush = (): void => {
    if (operations.length > 0) terms.push(list(operations));
    operations = [];
  };
  for (const step of steps) {
    if (step.type === 'operation') {
      operations.push(printOperation(step));
      continue;
    }
    flush();
    if (step.type === 'if') terms.push(printConditional(step, steps.length > 1));
    else terms.push(step.type === 'each' ? printLoop(step) : printAssertion(step));
  }
  flush();
  return terms.length === 0 ? '[]' : terms.join(' +\n');
}

function list(items: readonly string[]): string {
  const [only = ''] = items;
  if (items.length === 1) return `[${only}]`;
  return `[\n${items.map((item) => indent(item)).join(',\n')}\n]`;
}

const longestLine = 110;

function printOperation({ op, path, from, value }: Operation): string {
  const fields = [
    `op: "${op}"`,
    ...(from === undefined ? [] : [`from: ${from}`]),
    `path: ${path}`,
    ...(value === undefined ? [] : [`value: ${/^[{[]/.test(value) ? breakLines(value) : value}`]),
  ];
  if (fields.every((field) => field.length <= longestLine && !field.includes('\n')))
    return `JSONPatch{${fields.join(', ')}}`;
  return `JSONPatch{\n${fields.map(indent).join(',\n')}\n}`;
}

/** Breaks a long literal after its brackets and commas. Parts that fit stay in one line. */
function breakLines(source: string): string {
  const first = /[{[(]/.exec(source);
  const open = first?.index ?? -1;
  const close = open < 0 ? -1 : closingIndex(source, open);
  if (source.length <= longestLine || close <= open + 1) return source;
  const items = splitItems(source.slice(open + 1, close)).map((item) => indent(breakLines(item)));
  return `${source.slice(0, open + 1)}\n${items.join(',\n')}\n${source.charAt(close)}${breakLines(source.slice(close + 1))}`;
}

/** Calls back for each character outside of string literals, with the depth of brackets around it. */
function* outsideStrings(
  source: string,
  from = 0,
): Generator<{ readonly index: number; readonly depth: number }> {
  let depth = 0;
  for (let index = from; index < source.length; index++) {
    const character = source.charAt(index);
    if (character === "'" || character === '"' || character === '`') index = endOfString(source, index);
    else if ('{[('.includes(character)) depth++;
    else if ('}])'.includes(character)) depth--;
    yield { index, depth };
  }
}

function endOfString(source: string, start: number): number {
  const quote = source.charAt(start);
  for (let index = start + 1; index < source.length; index++) {
    if (source.charAt(index) === '\\') index++;
    else if (source.charAt(index) === quote) return index;
  }
  return source.length;
}

function closingIndex(source: string, open: number): number {
  for (const { index, depth } of outsideStrings(source, open)) if (depth === 0) return index;
  return -1;
}

function splitItems(source: string): readonly string[] {
  const items: string[] = [];
  let start = 0;
  for (const { index, depth } of outsideStrings(source)) {
    if (depth !== 0 || source.charAt(index) !== ',') continue;
    items.push(source.slice(start, index).trim());
    start = index + 1;
  }
  return [...items, source.slice(start).trim()];
}

function printConditional({ condition, steps, otherwise = [] }: Conditional, isPart: boolean): string {
  const text = `${hanging(condition)}\n  ? ${hanging(printBranch(steps))}\n  : ${hanging(printBranch(otherwise))}`;
  return isPart ? `(${hanging(text, 1)})` : text;
}

/** A condition inside of a condition needs parentheses. */
function printBranch(steps: readonly Step[]): string {
  const [only] = steps;
  return steps.length === 1 && only?.type === 'if' ? printConditional(only, true) : printSteps(steps);
}

/** A map has no value for other keys, and CEL has no function that fails. The checker must know the type of an empty list. */
function printAssertion({ condition, steps }: Assertion): string {
  const value = steps.length === 0 ? '[JSONPatch{}].filter(patch, false)' : printSteps(steps);
  return `{true: ${hanging(value)}}[${hanging(condition)}]`;
}

function printLoop({ list, index, item, condition, steps, reversed }: Loop): string {
  const [only] = steps;
  const isSingle = steps.length === 1 && only?.type === 'operation';
  const body = isSingle ? printOperation(only) : printSteps(steps);
  const filter = condition === undefined || condition === 'true' ? '' : `${hanging(condition)},\n  `;
  const loop = `${list}.transformList(${index}, ${item},\n  ${filter}${hanging(body)}\n)`;
  return `${loop}${reversed === true ? '.reverse()' : ''}${isSingle ? '' : '.flatten()'}`;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}

/** Indents all lines but the first. */
function hanging(text: string, depth = 2): string {
  return text.replaceAll('\n', `\n${' '.repeat(depth)}`);
}
