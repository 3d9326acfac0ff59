// biome-ignore-all lint/suspicious/noTemplateCurlyInString: group references of Go look like placeholders
import { formatGoDecimal } from '../go/format.ts';
import { regexpMatches, replaceRegexp, replaceRegexpLiteral } from '../go/regexp.ts';
import { compileVersionRange, parseVersion } from '../semver-range.ts';
import { matchesWildcard } from '../wildcard.ts';
import { type Arguments, defineFunctions } from './define.ts';

export const matchingFunctions = defineFunctions({
  regex_match: {
    parameters: ['string', 'string|number'],
    returns: 'boolean',
    description: 'Whether a regular expression (RE2) matches somewhere in a string or number.',
    example: { expression: "regex_match('12.*', `123`)", result: true },
    call: (args) => args.attempt(() => regexpMatches(args.text(0), textOf(args, 1))),
  },
  regex_replace_all: {
    parameters: ['string', 'string|number', 'string|number'],
    returns: 'string',
    description: 'Replaces every match; `${1}` in the replacement is the first group.',
    example: { expression: "regex_replace_all('([a-z])at', 'cat bat', '${1}og')", result: 'cog bog' },
    call: (args) => args.attempt(() => replaceRegexp(args.text(0), textOf(args, 1), textOf(args, 2))),
  },
  regex_replace_all_literal: {
    parameters: ['string', 'string|number', 'string|number'],
    returns: 'string',
    description: 'Replaces every match with the literal replacement.',
    example: {
      expression: "regex_replace_all_literal('([a-z])at', 'cat bat', '${1}og')",
      result: '${1}og ${1}og',
    },
    call: (args) => args.attempt(() => replaceRegexpLiteral(args.text(0), textOf(args, 1), textOf(args, 2))),
  },
  pattern_match: {
    parameters: ['string', 'string|number'],
    returns: 'boolean',
    description: 'Whether a `*` and `?` wildcard matches the whole string or number.',
    example: { expression: "pattern_match('prefix-*', 'prefix-foo')", result: true },
    call: (args) => matchesWildcard(args.text(0), textOf(args, 1)),
  },
  semver_compare: {
    parameters: ['string', 'string'],
    returns: 'boolean',
    description: 'Whether a semantic version is in a range; false for an invalid version.',
    example: { expression: "semver_compare('5.1.0', '>1.0.0 <2.0.0 || 5.x')", result: true },
    call: (args) => {
      const inRange = args.attempt(() => compileVersionRange(args.text(1)));
      const version = parseVersion(args.text(0));
      return version !== undefined && inRange(version);
    },
  },
});

function textOf(args: Arguments, index: number): string {
  const value = args.any(index);
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'number' ? formatGoDecimal(value) : args.text(index);
}
