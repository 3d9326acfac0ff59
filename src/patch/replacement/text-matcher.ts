import { compileRegexp } from '../../expression/go/regexp.ts';
import type { Scope } from '../../expression/scope.ts';
import { compileTemplate } from '../../expression/template/template.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { compileWildcard, hasWildcard } from '../../expression/wildcard.ts';
import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { PatchError } from '../compiled-patch.ts';
import type { FieldText } from '../field-path/field-path.ts';
import { textOf } from '../strategic/key.ts';
import type { ReplacementMode } from './value.ts';

/** Collected while a replacement is compiled. */
export interface ReplacementBuild {
  readonly mode: ReplacementMode;
  readonly reporter: Reporter;
  readonly roots: Set<string>;
}

export type PerScope<T> = (scope: Scope) => T;
export type Compare = (text: string) => FieldText;

export const exactText: Compare = (text) => ({ text, literal: true, matches: (other) => other === text });

export const wildcardText: Compare = (text) => {
  const { literal, matches } = compileWildcard(text);
  return { text, literal, matches };
};

const metaCharacters = /[\\^$.|?*+()[\]{}]/;

/** A kustomize selector: a regular expression that must match the whole string. */
export const wholeRegexp: Compare = (text) =>
  metaCharacters.test(text) ? regexpText(text, `^(?:${text})$`) : exactText(text);

/** A wildcard that is not a regular expression, such as `*x`. As in older versions of kustomize, it matches no name. */
export function isBareWildcard(text: string): boolean {
  return /^[*?][\w.*?-]*$/.test(text);
}

/** A regular expression for a wildcard. */
export function asRegexp(wildcard: string): string {
  return wildcard.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
}

/** A kustomize `[key=value]`: a regular expression that matches anywhere in the string. */
export const looseRegexp: Compare = (text) =>
  metaCharacters.test(text)
    ? regexpText(text, text)
    : { text, literal: true, matches: (other) => other.includes(text) };

function regexpText(text: string, pattern: string): FieldText {
  const regexp = compileRegexp(pattern);
  // The same kinds, names and namespaces recur.
  const known = new Map<string, boolean>();
  return {
    text,
    literal: true,
    matches(other) {
      const before = known.get(other);
      if (before !== undefined) return before;
      const found = regexp.matcher(other).find();
      if (known.size < 10_000 && other.length < 256) known.set(other, found);
      return found;
    },
  };
}

/** JSON that may contain variables in a policy. */
export function compileJson(value: Json, path: Path, build: ReplacementBuild): PerScope<Json> {
  if (build.mode === 'kustomize') return () => value;
  const template = compileTemplate(value, path, build.reporter);
  for (const root of template.roots) build.roots.add(root);
  return (scope) => template.render(scope);
}

/** A string to compare with. In a policy it may contain variables, whose values are compared exactly. */
export function compileText(
  text: string,
  path: Path,
  compare: Compare,
  build: ReplacementBuild,
): PerScope<FieldText> {
  if (build.mode === 'kustomize' || !text.includes('{{')) {
    const compiled = attempt(() => compare(text), path, build, text);
    return () => compiled ?? exactText(text);
  }
  const render = compileJson(text, path, build);
  const patternWritten = hasWildcard(withoutVariables(text));
  return (scope) => {
    const rendered = textOf(render(scope));
    if (rendered === undefined) {
      throw new PatchError('KYM_REPLACEMENT_FAILED', [], `'${text}' must be a string`);
    }
    return patternWritten ? compare(rendered) : exactText(rendered);
  };
}

/** Reports an error that `make` throws. */
export function attempt<T>(make: () => T, path: Path, build: ReplacementBuild, text?: string): T | undefined {
  try {
    return make();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const hint =
      build.mode === 'kustomize' && text !== undefined && isBareWildcard(text)
        ? `Values are regular expressions: write ${asRegexp(text)}.`
        : undefined;
    build.reporter.error(path, 'KYM_REPLACEMENT_INVALID', message, hint);
    return undefined;
  }
}

function withoutVariables(text: string): string {
  let rest = '';
  let end = 0;
  for (const token of findVariables(text)) {
    rest += text.slice(end, token.start);
    end = token.end;
  }
  return rest + text.slice(end);
}
