import { findVariables } from '../../expression/template/tokens.ts';
import type { Path } from '../../json/value.ts';
import {
  type FieldPathSyntax,
  type FieldStep,
  parseFieldPath,
  parseStep,
  splitFieldPath,
  splitMatch,
} from '../field-path/field-path.ts';
import { attempt, compileText, exactText, type PerScope, type ReplacementBuild } from './text-matcher.ts';

export interface CompiledFieldPath {
  /** As written. */
  readonly text: string;
  readonly steps: PerScope<readonly FieldStep[]>;
}

/**
 * A field path that may contain variables in a policy. It is split before they are substituted, so that a dot or a star
 * in a value cannot change the path.
 */
export function compileFieldPath(
  text: string,
  path: Path,
  syntax: FieldPathSyntax,
  build: ReplacementBuild,
): CompiledFieldPath {
  if (build.mode === 'kustomize' || !text.includes('{{')) {
    const steps = attempt(() => parseFieldPath(text, syntax), path, build, wildcardIn(text)) ?? [];
    return { text, steps: () => steps };
  }
  const compiled = attempt(() => compileSteps(text, path, syntax, build), path, build) ?? [];
  return { text, steps: (scope) => compiled.map((step) => step(scope)) };
}

/** The first value in brackets that is a wildcard and no regular expression. */
function wildcardIn(text: string): string | undefined {
  return /=([*?][\w.*?-]*)\]/.exec(text)?.[1];
}

function compileSteps(
  text: string,
  path: Path,
  syntax: FieldPathSyntax,
  build: ReplacementBuild,
): readonly PerScope<FieldStep>[] {
  const tokens = findVariables(text);
  let masked = '';
  let end = 0;
  for (const [index, token] of tokens.entries()) {
    masked += `${text.slice(end, token.start)}${mask(index)}`;
    end = token.end;
  }
  masked += text.slice(end);
  const unmask = (part: string): string =>
    tokens.reduce(
      (result, token, index) => result.replace(mask(index), () => text.slice(token.start, token.end)),
      part,
    );
  return splitFieldPath(masked).map((part) => {
    if (!part.includes(maskStart)) {
      const step = parseStep(part, syntax);
      return () => step;
    }
    const pair = splitMatch(part);
    if (pair === undefined) return variableStep(unmask(part), path, build);
    const key = compileText(unmask(pair.key), path, exactText, build);
    const value = compileText(unmask(pair.value), path, syntax.compare, build);
    return (scope) => ({ type: 'match', key: key(scope).text, ...value(scope) });
  });
}

// From the private use area, so that no path contains it.
const maskStart = '\u{E000}';
const mask = (index: number): string => `${maskStart}${index}\u{E001}`;

/** A step that is one variable is an index when its value is a number, else a name. */
function variableStep(text: string, path: Path, build: ReplacementBuild): PerScope<FieldStep> {
  const rendered = compileText(text, path, exactText, build);
  return (scope) => {
    const name = rendered(scope).text;
    return /^\d+$/.test(name) ? { type: 'index', index: Number(name) } : { type: 'field', name };
  };
}
