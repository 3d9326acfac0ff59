import type { Path } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import { didYouMean } from './did-you-mean.ts';

/** The root names that expressions at one place of a rule may use. */
export interface VariableScope {
  readonly names: ReadonlySet<string>;
  /** How many foreach loops are around: `element0` … `element<loops - 1>` exist. */
  readonly loops: number;
}

const builtIn = ['request', 'images', 'image', 'serviceAccountName', 'serviceAccountNamespace', '@'] as const;

/** Names a context entry or a loop may not take. */
export const reservedNames: readonly string[] = [
  'images',
  'request',
  'serviceAccountName',
  'serviceAccountNamespace',
  'element',
  'elementIndex',
];

export const outermostScope: VariableScope = { names: new Set(builtIn), loops: 0 };

export function withNames(scope: VariableScope, ...names: readonly string[]): VariableScope {
  return { ...scope, names: new Set([...scope.names, ...names]) };
}

export function insideLoop(scope: VariableScope, as: string | undefined): VariableScope {
  const named = as === undefined ? scope : withNames(scope, as, `${as}Index`);
  return { ...named, loops: scope.loops + 1 };
}

const elementName = /^element(Index)?(\d*)$/;

/** Reports names that nothing defines; Kyverno refuses them at install too. */
export function checkVariables(
  roots: Iterable<string>,
  scope: VariableScope,
  path: Path,
  reporter: Reporter,
): void {
  for (const name of roots) {
    if (scope.names.has(name)) continue;
    const element = elementName.exec(name);
    if (element === null) reportUnknown(name, scope, path, reporter);
    else checkElement(name, element[2] ?? '', scope, path, reporter);
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
    const message = `the variable ${name} belongs to a loop that is not there`;
    reporter.error(
      path,
      'KYM_VARIABLE_UNKNOWN',
      message,
      `The innermost loop here is number ${scope.loops - 1}.`,
    );
  }
}

function reportUnknown(name: string, scope: VariableScope, path: Path, reporter: Reporter): void {
  const known = [...scope.names].filter((candidate) => candidate !== '@' && candidate !== 'image');
  if (scope.loops > 0) known.push('element', 'elementIndex');
  const similar = didYouMean(name, known);
  const hint =
    similar === undefined
      ? `Known here: ${known.join(', ')}. A context entry can define ${name}.`
      : `Did you mean ${similar}?`;
  reporter.error(path, 'KYM_VARIABLE_UNKNOWN', `nothing defines the variable ${name}`, hint);
}
