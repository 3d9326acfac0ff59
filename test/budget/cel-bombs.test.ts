import { describe, expect, it } from 'vitest';
import type { CelScope } from '../../src/cel/compile/closure.ts';
import { mutatingPolicyEnvironment } from '../../src/cel/environments.ts';
import { compileCel } from '../../src/cel/expression.ts';
import { CelError } from '../../src/cel/value/error.ts';
import type { Value } from '../../src/cel/value/value.ts';
import { admissionLimits, Budget, BudgetError, withBudget } from '../../src/json/budget.ts';

const words = (count: number) => Array.from({ length: count }, (_, index) => `x${index}`);
const object: Value = {
  text: 'a'.repeat(500_000),
  spaces: `${' '.repeat(400_000)}x`,
  faces: '😀'.repeat(100_000),
  digits: '9'.repeat(300_000),
  versions: '1.'.repeat(200_000),
  slashes: '/'.repeat(400_000),
  base64: 'QUFB'.repeat(100_000),
  clauses: '%s'.repeat(10_000),
  words: words(20_000),
  numbers: words(20_000).map((_, index) => index),
  objects: words(2_000).map((name) => ({ name })),
};
const scope: CelScope = {
  lookup: (name) => (name === 'object' ? object : undefined),
  effects: { now: () => new Date(0), random: () => 0.3 },
};
const environment = mutatingPolicyEnvironment();

/** Binds forty variables, each made of two uses of the one before, and evaluates the body with the last. */
function doubled(first: string, double: (name: string) => string, body: string, name = 'x'): string {
  let expression = `cel.bind(${name}, dyn(${double(`${name}39`)}), ${body})`;
  for (let index = 39; index > 0; index--) {
    const value = index === 1 ? first : double(`${name}${index - 1}`);
    expression = `cel.bind(${name}${index}, dyn(${value}), ${expression})`;
  }
  return expression;
}

/** Two such values that share nothing with each other. */
function twice(first: string, double: (name: string) => string, body: string): string {
  return doubled(first, double, doubled(first, double, body, 'y'));
}

const list = (name: string) => `[${name}, ${name}]`;
const map = (name: string) => `{"a": ${name}, "b": ${name}}`;
const sum = (name: string) => `${name} + ${name}`;
const often = (expression: string) => `lists.range(100000).all(i, ${expression})`;
const range = 'lists.range(1000)';

const bombs: Readonly<Record<string, string>> = {
  'loops that build lists': `${range}.map(a, ${range}.map(b, ${range}.map(c, a * b * c)))`,
  'loops that only look': `${range}.all(a, ${range}.all(b, ${range}.all(c, a >= 0)))`,
  'a string searched again and again': often('!object.text.contains("b")'),
  'a part that nearly matches everywhere': `(object.text + "b").lastIndexOf(object.text.substring(0, 250000) + "c")`,
  'a part of faces that nearly matches': 'object.faces.indexOf(object.faces.substring(0, 50000) + "x")',
  'a string split into characters': `${range}.map(i, object.text.split(""))`,
  'a join with a long separator': 'object.words.join(object.text)',
  'upper case again and again': often('object.text.upperAscii() != ""'),
  'space that is not at the end': often('object.spaces.trim() != ""'),
  'quotes again and again': often('strings.quote(object.text) != ""'),
  'characters of faces': often('object.faces.charAt(i) != ""'),
  'the length of faces': often('size(object.faces) > 1'),
  'a long format': often('object.clauses.format(object.words) != ""'),
  'long strings compared': often('object.text + "b" < object.text + "c"'),
  'bytes compared': often('bytes(object.text) == bytes(object.text)'),
  'a string that doubles': doubled('"aaaaaaaaaaaaaaaa"', sum, 'size(x)'),
  'a list that doubles': doubled('[1, 2, 3]', sum, 'size(x)'),
  'shared lists that are equal': twice('[1]', list, 'x == y'),
  'shared maps that are equal': twice('{"a": 1}', map, 'x == y'),
  'a shared list searched for another': twice('[1]', list, 'x in [y]'),
  'shared lists without duplicates': twice('[1]', list, '[x, y].distinct()'),
  'a shared list as text': doubled('[1]', list, '"%s".format([x])'),
  'a shared map as text': doubled('{"a": 1}', map, '"%s".format([x])'),
  'a shared list as JSON': doubled('[1]', list, 'json.marshal(x)'),
  'a shared list, flattened': doubled('[1]', list, 'x.flatten(40)'),
  'lists added': `${range}.map(i, object.words + object.words)`,
  'lists cut': often('object.words.slice(0, 19999).size() > 1'),
  'lists reversed': often('object.words.reverse().size() > 1'),
  'lists sorted': often('object.words.sort().size() > 1'),
  'lists sorted by an expression': `${range}.map(i, object.numbers.sortBy(e, -e))`,
  'lists searched': 'object.words.map(x, object.words.lastIndexOf("z"))',
  'lists searched with in': 'object.words.map(x, "z" in object.words)',
  'sets compared': 'sets.contains(object.words, object.words.reverse())',
  'sets of objects compared': 'sets.equivalent(object.objects, object.objects.reverse())',
  'objects without duplicates': 'object.objects.distinct()',
  'lists checked for order': often('object.numbers.isSorted()'),
  'lists summed': often('object.numbers.sum() > 0'),
  'maps from lists': `${range}.map(i, object.words.transformMap(k, v, v))`,
  'a regular expression with repetitions': often('!object.text.matches("(a*)*b")'),
  'a regular expression with many states': 'object.text.matches("(a?){1000}b")',
  'regular expressions from data': 'object.words.all(x, !object.text.matches(x))',
  'empty matches': 'object.text.findAll("")',
  'replacements of empty matches': 'regex.replace(object.text, "", object.text)',
  'matches extracted': 'regex.extractAll(object.text, "(a)")',
  'URLs again and again': often('isURL("http://h/" + object.slashes)'),
  'addresses again and again': often('!isIP(object.versions)'),
  'names again and again': often('format.dns1123Subdomain().validate(object.versions).hasValue()'),
  'base64 of base64': Array.from({ length: 60 }).reduce<string>(
    (inner) => `bytes(base64.encode(${inner}))`,
    'bytes(object.text)',
  ),
  'numbers with many digits': often('double(object.digits) > 1.0'),
  'JSON again and again': `${range}.map(i, json.unmarshal("[" + object.text.replace("a", "1,") + "1]"))`,
  'megabytes of YAML': 'yaml.parse(object.text.replace("a", "- a: b\\n"))',
  'hashes again and again': often('sha256(object.text) != ""'),
  'random text of nothing': 'random("((()*)*)*")',
  'random text of great length': `${range}.map(i, random("[a-z]{1000}"))`,
};

/** Without a clock, so that the result does not depend on the machine: steps and bytes alone must end each of them. */
describe('CEL expressions end as an exhausted budget', () => {
  it.each(Object.entries(bombs))('%s', (_, source) => {
    const { expression, problems } = compileCel(source, environment);
    expect(problems).toEqual([]);
    const { steps, bytes } = admissionLimits;
    const run = () => withBudget(new Budget({ steps, bytes }), () => expression?.evaluate(scope));
    let failure: unknown;
    try {
      run();
    } catch (error) {
      failure = error;
    }
    expect(
      [BudgetError, CelError].some((type) => failure instanceof type),
      String(failure),
    ).toBe(true);
  });
});
