import { expect, test } from 'vitest';
import { mutatingPolicyEnvironment } from '../environments.ts';
import { compileCel } from '../expression.ts';
import type { Value } from '../value/value.ts';

const environment = mutatingPolicyEnvironment();
const scope = { lookup: () => undefined, effects: { now: () => new Date(0), random: () => 0 } };

function evaluate(source: string): Value | undefined {
  const { expression, problems } = compileCel(source, environment);
  expect(problems).toEqual([]);
  return expression?.evaluate(scope);
}

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['image("nginx:1@DIGEST").tag()', '1'],
  ['image("nginx:1@DIGEST").identifier()', `1@${digest}`],
  ['image("nginx@DIGEST").tag()', ''],
  ['image("nginx").identifierWithSeparator()', ':latest'],
  ['image("nginx:1@DIGEST").identifierWithSeparator()', `@${digest}`],
  ['image("nginx") == image("nginx")', true],
  ['image("nginx") == image("docker.io/library/nginx:latest")', false],
  ['isImage("localhost:5000/app") && isImage("-app") && isImage("foo..bar")', true],
  [
    'isImage("localhost/x") || isImage("x") || isImage("app@sha512:aa") || isImage("a b") || isImage("")',
    false,
  ],
  ['image("registry:5000/app").registry()', 'registry:5000'],
  ['quantity("1Gi").asInteger()', 2 ** 30],
  ['quantity("1.5Gi").isInteger() || quantity("1000m").isInteger() || quantity("1Pi").isInteger()', false],
  ['isSemver("18446744073709551615.0.0") && !isSemver("18446744073709551616.0.0")', true],
  ['regex.replace("abab", "a*", "X")', 'XbXbX'],
  ['regex.replace("abab", "a*", "X", 2)', 'XbXb'],
  ['regex.extractAll("abab", "a*")', ['a', 'a', '']],
  ['"abab".findAll("a*")', ['a', 'a', '']],
  ['url("//host/path").getHost()', 'host'],
  ['url("///path").getEscapedPath()', '///path'],
  ['isURL("*") && !isURL("http://%41/")', true],
  ['url("https://[fe80::1%25eth0]:80/").getHostname()', 'fe80::1%eth0'],
  ['format.dns1123Label().validate("a.b").value()', ['must not contain dots']],
  [
    'format.labelValue().validate("aaaaaaaaaa".replace("", "aaaaaa")).value()',
    ['must be no more than 63 bytes'],
  ],
  ['format.qualifiedName().validate("").value().size()', 2],
  [
    'format.qualifiedName().validate("a/b/c").value()[0].startsWith("a valid label key must consist of")',
    true,
  ],
  ['format.datetime().validate("2024-01-01 00:00:00Z").hasValue()', true],
  ['"%s".format([[int]])', '[int]'],
  ['"%e|%.2e".format([double("inf"), double("NaN")])', '     ∞|NaN'],
  ['[dyn(1), dyn("a")].max()', 1],
  ['[dyn(1), dyn("a")].isSorted() && [1.0, double("NaN")].isSorted()', true],
  ['1.0 / math.sign(-0.0) > 0.0', true],
  ['json.marshal({"a": [duration("1.5s")]})', '{"a":[1500000000]}'],
  ['json.marshal(optional.of("a"))', '"a"'],
])('%s is %j', (source, value) => {
  expect(evaluate(source.replaceAll('DIGEST', digest))).toEqual(value);
});

test.each([
  ['quantity("1.5Gi").asInteger()', 'cannot convert value to integer'],
  ['[dyn(1), dyn(null)].min()', 'no such overload'],
  ['image("localhost/x").tag()', 'could not parse reference: localhost/x'],
])('%s fails', (source, message) => {
  expect(() => evaluate(source)).toThrow(message);
});
