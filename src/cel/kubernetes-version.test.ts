import { expect, it } from 'vitest';
import { admissionPolicyEnvironment } from './environments.ts';
import { compileCel } from './expression.ts';
import { neededVersion } from './kubernetes-version.ts';

const environment = admissionPolicyEnvironment();

it.each([
  ['object.spec.replicas > 1', undefined],
  ['object.?spec.hasValue()', '1.28 optional values'],
  ['quantity("1Gi").isGreaterThan(quantity("1"))', '1.28 quantity'],
  ['"%d".format([1])', '1.29 format'],
  ['sets.contains([1], [1])', '1.29 sets.contains'],
  ['ip("10.0.0.1").family() == 4', '1.30 ip'],
  ['ip.isCanonical("::1")', '1.30 ip.isCanonical'],
  ['cidr("10.0.0.0/8").containsIP("10.0.0.1")', '1.30 cidr'],
  ['!format.dns1123Label().validate("a").hasValue()', '1.31 format.dns1123Label'],
  ['[1].all(i, v, v > i)', '1.32 all with two variables'],
  ['[1].transformList(i, v, v)', '1.32 transformList with two variables'],
  ['isSemver("1.0.0") && semver("1.0.0").major() == 1', '1.33 isSemver'],
  ['[3, 1].sort() == [1, 3]', '1.34 sort'],
  ['lists.range(3)', '1.34 lists.range'],
  ['[quantity("1")].sortBy(q, q.asInteger())', '1.34 sortBy'],
  ['[1].exists(x, [x].first().hasValue())', '1.34 first'],
])('%s needs Kubernetes %s', (source, expected) => {
  const { expression, problems } = compileCel(source, environment);
  expect(problems).toEqual([]);
  const needed = expression === undefined ? undefined : neededVersion(expression.node);
  expect(needed === undefined ? undefined : `1.${needed.minor} ${needed.feature}`).toBe(expected);
});
