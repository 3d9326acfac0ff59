import type { StructuredSchema } from '../../../patch/structured/schema.ts';
import type { CelType } from '../../types.ts';
import { asDyn, precedence, primary, ternary, text } from '../cel-text.ts';
import { regexReplacement } from '../regex.ts';
import { classOf, definite, lenient, type Term } from '../term.ts';
import { isTotal, printed } from '../translation.ts';
import { wildcardTest } from '../wildcard.ts';
import { type Arguments, call, onlyMutatingPolicy, stringList, type Translate } from './arguments.ts';

/** Functions of text. */
export const stringFunctions: Readonly<Record<string, Translate>> = {
  starts_with: method('startsWith', 'bool'),
  ends_with: method('endsWith', 'bool'),
  split: method('split', 'list', stringList),
  replace_all: method('replace', 'string'),
  to_upper: caseChange('upperAscii'),
  to_lower: caseChange('lowerAscii'),
  replace: (args) => {
    const [value, from, to] = [args.of(0, 'string'), args.of(1, 'string'), args.of(2, 'string')];
    const count = args.term(3);
    if (typeof count.constant !== 'number' || !Number.isInteger(count.constant)) {
      return args.refuse('the number of replacements is not a constant');
    }
    return call(`${primary(value)}.replace(${from.source}, ${to.source}, ${count.source})`, 'string', [
      value,
      from,
      to,
    ]);
  },
  trim_prefix: (args) => {
    const [value, prefix] = [args.of(0, 'string'), args.of(1, 'string')];
    const start = text(`${primary(value)}.startsWith(${prefix.source})`, 'bool');
    const rest = text(`${primary(value)}.substring(size(${prefix.source}))`, 'string');
    return definite(
      {
        ...ternary(start, rest, { ...value, type: 'string' }),
        total: isTotal(value) && isTotal(prefix),
      },
      { uncertain: true },
    );
  },
  truncate: (args) => {
    const value = args.of(0, 'string');
    const length = args.term(1).constant;
    if (typeof length !== 'number') return args.refuse('the length is not a constant');
    const most = Math.max(Math.trunc(length), 0);
    const short = text(`size(${value.source}) <= ${most}`, 'bool', precedence.relation);
    const cut = text(`${primary(value)}.substring(0, ${most})`, 'string');
    return definite(
      { ...ternary(short, { ...value, type: 'string' }, cut), total: isTotal(value) },
      { uncertain: true },
    );
  },
  join: (args) => {
    const [separator, list] = [args.of(0, 'string'), asDyn(args.of(1, 'list'))];
    return call(`${primary(list)}.join(${separator.source})`, 'string', [
      separator,
      { ...list, total: false },
    ]);
  },
  to_string: (args) => {
    const value = args.term(0);
    return printed(value.optional === undefined ? value : lenient(value), args.translation);
  },
  regex_match: (args) => {
    const pattern = args.constantText(0);
    const value = args.of(1, 'string');
    if (pattern === undefined) return args.refuse('the regular expression is not a constant');
    if (classOf(value) !== 'string')
      return args.refuse('regex_match() also takes numbers, and the type of the value is not known');
    return call(`${primary(value)}.matches(${args.term(0).source})`, 'bool', [value]);
  },
  pattern_match: (args) => {
    const pattern = args.constantText(0);
    const value = args.of(1, 'string');
    if (pattern === undefined) return args.refuse('the pattern is not a constant');
    if (classOf(value) !== 'string')
      return args.refuse('pattern_match() also takes numbers, and the type of the value is not known');
    return definite(wildcardTest(value, pattern), { total: value.total });
  },
  regex_replace_all: (args) => replaceExpression(args, false),
  regex_replace_all_literal: (args) => replaceExpression(args, true),
};

/** `receiver.name(argument …)` over strings. */
function method(name: string, type: CelType, schema?: StructuredSchema): Translate {
  return (args) => {
    const [receiver, ...rest] = Array.from({ length: args.length }, (_item, index) =>
      args.of(index, 'string'),
    );
    if (receiver === undefined) return args.refuse('a function has no argument');
    return call(
      `${primary(receiver)}.${name}(${rest.map(({ source }) => source).join(', ')})`,
      type,
      [receiver, ...rest],
      schema,
    );
  };
}

function caseChange(name: 'upperAscii' | 'lowerAscii'): Translate {
  return (args) => {
    const value = args.of(0, 'string');
    if (args.term(0).ascii !== true && !isAscii(args.constantText(0))) {
      args.refuse('CEL changes the case of ASCII letters only, and the string may contain others');
    }
    return call(`${primary(value)}.${name}()`, 'string', [value]);
  };
}

function isAscii(value: string | undefined): boolean {
  return value !== undefined && [...value].every((character) => character <= '\x7f');
}

function replaceExpression(args: Arguments, isLiteral: boolean): Term {
  const name = isLiteral ? 'regex_replace_all_literal' : 'regex_replace_all';
  onlyMutatingPolicy(args, name);
  const pattern = args.constantText(0);
  const replacement = args.constantText(2);
  if (pattern === undefined || replacement === undefined)
    return args.refuse(`the regular expression and the replacement of ${name}() must be constants`);
  const value = args.of(1, 'string');
  if (classOf(value) !== 'string')
    return args.refuse(`${name}() also takes numbers, and the type of the value is not known`);
  const written =
    regexReplacement(pattern, replacement, isLiteral) ??
    args.refuse(`the replacement of ${name}() has no form in CEL`);
  return call(`regex.replace(${value.source}, ${args.term(0).source}, ${written})`, 'string', [value]);
}
