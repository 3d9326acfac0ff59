import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import {
  evaluateCel,
  newConditions,
  newTemplate,
  oldConditions,
  oldTemplate,
  staticType,
} from './both-engines.testing.ts';

/** KYMERA_SEED and KYMERA_RUNS make longer runs with other expressions. */
const seed = Number(process.env['KYMERA_SEED'] ?? 1);
const runs = Number(process.env['KYMERA_RUNS'] ?? 400);
/** For a machine that is busy. */
const timeout = 300_000;

const word = fc.constantFrom(
  '',
  'a',
  'web',
  'web-1',
  'app',
  'true',
  '5',
  '0',
  '1Gi',
  '1024Mi',
  '30s',
  '0.5m',
  '1m',
  '1.2.3',
  'nginx:1.27',
  'é',
);
const words = fc.array(word, { maxLength: 3 });
const labels = fc.dictionary(fc.constantFrom('app', 'team', 'a-b', 'example.com/x'), word, { maxKeys: 3 });
const optionally = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const number = fc.constantFrom(0, 1, 5, 30, 60, -1);

const container = fc.record(
  {
    name: word,
    image: word,
    args: words,
    stdin: fc.boolean(),
    terminationMessagePath: word,
    ports: fc.array(
      fc.record({ containerPort: number, hostPort: number, name: word }, { requiredKeys: [] }),
      { maxLength: 2 },
    ),
    resources: fc.record({ limits: labels, requests: labels }, { requiredKeys: [] }),
    env: fc.array(fc.record({ name: word, value: word }, { requiredKeys: [] }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const spec = fc.record(
  {
    containers: fc.array(container, { maxLength: 3 }),
    initContainers: fc.array(container, { maxLength: 2 }),
    hostNetwork: fc.boolean(),
    priority: number,
    dnsPolicy: word,
    nodeSelector: labels,
    securityContext: fc.record({ runAsUser: number, runAsNonRoot: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

const pod: fc.Arbitrary<JsonObject> = fc
  .record({
    labels: optionally(labels),
    annotations: optionally(labels),
    name: optionally(word),
    spec: optionally(spec),
  })
  .map(({ spec: body, ...metadata }) => {
    const present = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
    const head = { apiVersion: 'v1', kind: 'Pod', metadata: present };
    return (body === undefined ? head : { ...head, spec: body }) as unknown as JsonObject;
  });

const path = fc.constantFrom(
  'request.object.metadata.name',
  'request.object.metadata.labels',
  'request.object.metadata.labels.app',
  'request.object.metadata.labels."a-b"',
  'request.object.metadata.annotations.team',
  'request.object.spec.hostNetwork',
  'request.object.spec.priority',
  'request.object.spec.dnsPolicy',
  'request.object.spec.nodeSelector',
  'request.object.spec.containers',
  'request.object.spec.containers[0].image',
  'request.object.spec.containers[-1].name',
  'request.object.spec.containers[].name',
  'request.object.spec.containers[*].ports[].containerPort',
  'request.object.spec.containers[*].args',
  'request.object.spec.containers[*].args[]',
  "request.object.spec.containers[].env[?name == 'a'].value",
  "request.object.spec.initContainers[?name == 'web'].image",
  'request.object.spec.initContainers[?ports[?hostPort > `0`]].name',
  "request.object.spec.initContainers[?starts_with(image, 'nginx')].name",
  "request.object.spec.containers[?stdin && !(image == 'a')].name | [0]",
  'request.object.spec.containers[:1].name',
  'request.object.spec.[initContainers, containers][].name',
  'request.object.spec.containers[0].resources.limits.app',
  'request.object.spec.containers[].resources.limits.app',
  'request.object.spec.securityContext.runAsUser',
  'request.object.spec.nodeSelector.*',
  'request.object.spec.{name: dnsPolicy, host: hostNetwork}',
  'request.operation',
  'request.namespace',
  'request.userInfo.username',
  'request.userInfo.groups',
  'serviceAccountName',
);

const literalText = fc.constantFrom(
  "''",
  "'a'",
  "'web'",
  '`1`',
  '`0`',
  '`[]`',
  '`{}`',
  '`true`',
  '`false`',
  '`["a", "b"]`',
  '`null`',
);

const call = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    inner.map((x) => `length(${x})`),
    inner.map((x) => `keys(${x})`),
    inner.map((x) => `values(${x})`),
    inner.map((x) => `to_string(${x})`),
    inner.map((x) => `sort(${x})`),
    inner.map((x) => `reverse(${x})`),
    inner.map((x) => `join('-', ${x})`),
    inner.map((x) => `split(${x}, '-')`),
    inner.map((x) => `starts_with(${x}, 'web')`),
    inner.map((x) => `replace_all(${x}, 'e', 'ee')`),
    inner.map((x) => `trim_prefix(${x}, 'web')`),
    inner.map((x) => `truncate(${x}, \`2\`)`),
    inner.map((x) => `contains(${x}, 'a')`),
    inner.map((x) => `pattern_match('w?b*', ${x})`),
    inner.map((x) => `regex_match('^[a-z]+$', ${x})`),
    inner.map((x) => `regex_replace_all('([a-z])b', ${x}, 'x$1')`),
    inner.map((x) => `base64_encode(${x})`),
    inner.map((x) => `items(${x}, 'key', 'value')`),
    fc.tuple(inner, inner).map(([x, y]) => `not_null(${x}, ${y})`),
    fc.tuple(inner, inner).map(([x, y]) => `merge(${x}, ${y})`),
    inner.map((x) => `lookup(${x}, 'app')`),
  );

const expression: fc.Arbitrary<string> = fc.letrec<{ node: string; leaf: string }>((tie) => ({
  leaf: fc.oneof({ weight: 4, arbitrary: path }, { weight: 1, arbitrary: literalText }),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a}) || (${b})`),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a}) && (${b})`),
    fc
      .tuple(tie('node'), fc.constantFrom('==', '!=', '<', '>='), tie('node'))
      .map(([a, o, b]) => `(${a}) ${o} (${b})`),
    tie('node').map((a) => `!(${a})`),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `[${a}, ${b}]`),
    tie('node').map((a) => `(${a}) | length(@)`),
    call(tie('node')),
  ),
})).node;

const operator = fc.constantFrom(
  'Equals',
  'NotEquals',
  'AnyIn',
  'AllIn',
  'AnyNotIn',
  'AllNotIn',
  'In',
  'NotIn',
  'GreaterThan',
  'GreaterThanOrEquals',
  'LessThan',
  'LessThanOrEquals',
  'DurationGreaterThan',
  'DurationLessThanOrEquals',
);

const constant: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    '',
    'a',
    'web',
    'web*',
    'w?b',
    '?*',
    '*',
    '5',
    '5*',
    '1Gi',
    '30s',
    '1m',
    '60',
    '1.2.3',
    0,
    1,
    5,
    30,
    1.5,
    true,
    false,
    null,
  ),
  fc.array(fc.constantFrom<Json>('a', 'web', 'web-*', '5', 5, true, 'nginx:*'), { maxLength: 3 }),
  fc.constant({ app: 'a' }),
);

const operand = fc.oneof(
  { weight: 3, arbitrary: expression.map((source): Json => `{{ ${source} }}`) },
  { weight: 1, arbitrary: fc.tuple(path, literalText).map(([a, b]): Json => `{{ ${a} || ${b} }}`) },
);

const condition = fc.oneof(
  { weight: 3, arbitrary: fc.record({ key: operand, operator, value: constant }) },
  { weight: 1, arbitrary: fc.record({ key: constant, operator, value: operand }) },
);

const conditions: fc.Arbitrary<Json> = fc.oneof(
  condition.map((only): Json => ({ all: [only as unknown as Json] })),
  fc
    .record(
      {
        any: fc.array(condition, { minLength: 1, maxLength: 2 }),
        all: fc.array(condition, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    )
    .map((both) => both as unknown as Json),
);

describe.each(['mutatingpolicy', 'map'] as const)('translation to CEL for %s', (target) => {
  it(
    'gives the value or the failure of every JMESPath expression',
    () => {
      let translated = 0;
      fc.assert(
        fc.property(expression, fc.array(pod, { minLength: 4, maxLength: 4 }), (source, objects) => {
          const template = `{{ ${source} }}`;
          const text = newTemplate(template, target);
          if (text === undefined) return;
          translated++;
          const [old, converted] = [oldTemplate(template), evaluateCel(text, target)];
          for (const object of objects)
            expect({ ...converted(object), source: text.source }).toEqual({
              ...old(object),
              source: text.source,
            });
        }),
        { numRuns: runs, seed },
      );
      expect(translated).toBeGreaterThan(runs / 4);
    },
    timeout,
  );

  it(
    'gives the result or the failure of every condition',
    () => {
      let translated = 0;
      fc.assert(
        fc.property(conditions, fc.array(pod, { minLength: 4, maxLength: 4 }), (given, objects) => {
          const text = newConditions(given, target);
          if (text === undefined) return;
          translated++;
          expect({ source: text.source, type: staticType(text, target) }).toEqual({
            source: text.source,
            type: 'bool',
          });
          const [old, converted] = [oldConditions(given), evaluateCel(text, target)];
          for (const object of objects)
            expect({ ...converted(object), source: text.source }).toEqual({
              ...old(object),
              source: text.source,
            });
        }),
        { numRuns: runs, seed },
      );
      expect(translated).toBeGreaterThan(runs / 5);
    },
    timeout,
  );

  it.each([
    "lookup(`{}`, 'app') || ''",
    'lookup(`{"app": "x"}`, \'app\') || `1`',
    '`{"app": 0}`.app || \'x\'',
    '`{"app": "x"}`.app || `1`',
    "[request.object.metadata.name, not_null(request.object.spec.containers[?stdin].name | [0], '')]",
  ])('gives the value of %s, whose parts have several static types', (source) => {
    const template = `{{ ${source} }}`;
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } };
    const text = newTemplate(template, target);
    expect(text && evaluateCel(text, target)(object)).toEqual(oldTemplate(template)(object));
  });

  it('does not evaluate an alternative that is not needed and would fail', () => {
    const template = '{{ request.object.metadata.name || length(request.object.metadata.labels.app) }}';
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } };
    const text = newTemplate(template, target);
    expect(text && evaluateCel(text, target)(object)).toEqual(oldTemplate(template)(object));
  });

  it.each([
    ['a projection', '{{ request.object.spec.containers[].image }}', 'AnyIn', ['nginx:*', 'a']],
    ['a list as the value', 'web', 'AllNotIn', '{{ request.object.spec.containers[].image }}'],
    ['booleans as the value', 'web', 'AllNotIn', '{{ request.object.spec.containers[].stdin }}'],
    ['a boolean with a default', "{{ request.object.spec.hostNetwork || '' }}", 'NotEquals', ''],
  ])('gives a condition on %s the static type bool', (_name, key, operator, value) => {
    const condition = newConditions({ all: [{ key, operator, value }] }, target);
    expect(condition && staticType(condition, target)).toBe('bool');
  });
});
