import { didYouMean } from '../../expression/did-you-mean.ts';
import { compileTemplate } from '../../expression/template/template.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { isArray, isObject, type Json, type Path } from '../../json/value.ts';
import { type Hint, type Reporter, replaceHint } from '../../problem.ts';
import { helmHint } from '../../yaml/advice.ts';

/** The root names that are available to expressions at one path of a rule. */
export interface VariableScope {
  readonly names: ReadonlySet<string>;
  /** The number of enclosing foreach loops: `element0` … `element<loops - 1>` exist. */
  readonly loops: number;
}

const shown = ['request', 'images', 'serviceAccountName', 'serviceAccountNamespace'] as const;
/**
 * `@` may read anything. In `a || ""` and `a == null`, the right sides are undefined names that evaluate to null, as
 * their authors expect.
 */
const hidden = ['@', '', 'null', 'true', 'false', 'image'] as const;

/** Names that a context entry or a loop cannot use. */
export const reservedNames: readonly string[] = [
  'images',
  'request',
  'serviceAccountName',
  'serviceAccountNamespace',
  'element',
  'elementIndex',
];

export const outermostScope: VariableScope = { names: new Set([...shown, ...hidden]), loops: 0 };

export function withNames(scope: VariableScope, ...names: readonly string[]): VariableScope {
  return { ...scope, names: new Set([...scope.names, ...names]) };
}

export function insideLoop(scope: VariableScope, as: string | undefined): VariableScope {
  const named = as === undefined ? scope : withNames(scope, as, `${as}Index`);
  return { ...named, loops: scope.loops + 1 };
}

const elementName = /^element(Index)?(\d*)$/;

/**
 * Reports undefined names. Kyverno also rejects them at install, except in expressions with a function call.
 * @param source the value at `path`, to locate the use of the name.
 */
export function checkVariables(
  roots: Iterable<string>,
  scope: VariableScope,
  path: Path,
  reporter: Reporter,
  source: Json = null,
): void {
  const unknown = [...roots].filter((name) => !scope.names.has(name));
  if (unknown.length === 0) return;
  const uses = findVariableUses(source, path);
  for (const name of unknown) {
    const element = elementName.exec(name);
    const use = uses.get(name) ?? { path, inCall: false };
    if (element === null) reportUnknown(name, scope, use, reporter);
    else checkElement(name, element[2] ?? '', scope, use.path, reporter);
  }
}

function checkElement(
  name: string,
  level: string,
  scope: VariableScope,
  path: Path,
  reporter: Reporter,
): void {
  if (scope.loops === 0) {
    const message = `the variable ${name} exists only inside foreach`;
    reporter.error(
      path,
      'KYM_VARIABLE_OUTSIDE_FOREACH',
      message,
      'Use request.object, or put the patch in a foreach.',
    );
  } else if (level !== '' && Number(level) >= scope.loops) {
    const message = `the variable ${name} refers to a loop that does not exist`;
    reporter.error(
      path,
      'KYM_VARIABLE_UNKNOWN',
      message,
      `The innermost loop has the number ${scope.loops - 1}.`,
    );
  }
}

function reportUnknown(
  name: string,
  scope: VariableScope,
  { path, inCall }: VariableUse,
  reporter: Reporter,
): void {
  const known = [...scope.names].filter((candidate) => !(hidden as readonly string[]).includes(candidate));
  if (scope.loops > 0) known.push('element', 'elementIndex');
  const hint = hintFor(name, known);
  const message = `the variable ${name} is not defined`;
  if (inCall) reporter.warn(path, 'KYM_VARIABLE_UNKNOWN', `${message} and evaluates to null`, hint);
  else reporter.error(path, 'KYM_VARIABLE_UNKNOWN', message, hint);
}

/** A policy may define thousands of names, and use as many that do not exist. */
const mostShown = 30;
const mostCompared = 200;

function hintFor(name: string, known: readonly string[]): Hint {
  if (name === 'target')
    return 'target is available in the context and preconditions of a target, and in the patch.';
  if (helmWords.has(name)) return helmHint;
  const similar = didYouMean(name, known.slice(0, mostCompared));
  if (similar !== undefined) return replaceHint(name, similar);
  const others = known.length > mostShown ? ` and ${known.length - mostShown} more` : '';
  const names = known.slice(0, mostShown).join(', ');
  return `Available variables: ${names}${others}. Define ${name} as a context entry to use it.`;
}

/** `{{ end }}`, `{{- if .Values.x }}` … */
const helmWords = new Set([
  'if',
  'else',
  'end',
  'range',
  'with',
  'define',
  'include',
  'template',
  'toYaml',
  'tpl',
]);

const silent: Reporter = { error: () => {}, warn: () => {} };

/** Where a variable is used. */
export interface VariableUse {
  readonly path: Path;
  /** In an expression that calls a function, which evaluates undefined names to null. */
  readonly inCall: boolean;
}

/** The first use of each variable below `path`, preferably outside function calls. */
function findVariableUses(value: Json, path: Path): ReadonlyMap<string, VariableUse> {
  const uses = new Map<string, VariableUse>();
  collectUses(value, path, uses);
  return uses;
}

function collectUses(value: Json, path: Path, uses: Map<string, VariableUse>): void {
  if (typeof value === 'string') collectUsesInText(value, path, uses);
  const entries = isArray(value) ? value.entries() : isObject(value) ? Object.entries(value) : [];
  for (const [token, item] of entries) {
    const at = [...path, token];
    if (typeof token === 'string') collectUsesInText(token, at, uses);
    collectUses(item, at, uses);
  }
}

function collectUsesInText(text: string, path: Path, uses: Map<string, VariableUse>): void {
  for (const { start, end, expression } of findVariables(text)) {
    const use = { path, inCall: functionCall.test(expression) };
    for (const name of compileTemplate(text.slice(start, end), [], silent).roots)
      if (uses.get(name)?.inCall !== false && !(uses.has(name) && use.inCall)) uses.set(name, use);
  }
}

const functionCall = /[a-z_0-9]\(/;
