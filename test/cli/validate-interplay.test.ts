import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { policy } from '../../src/policy/policy.testing.ts';
import type { Problem } from '../../src/problem.ts';
import { findCorpus, readCorpus } from '../conformance/kyverno-corpus.ts';
import { noCorpus } from '../needs.testing.ts';
import { kymera } from './in-process.testing.ts';

const root = join(import.meta.dirname, '..', '..');
const codes = ['KYM_CONFLICT', 'KYM_ENDLESS', 'KYM_NOT_IDEMPOTENT'];

async function findings(
  files: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<readonly Problem[]> {
  const names = Object.keys(files).filter((name) => name.startsWith('p'));
  const { stdout, stderr } = await kymera(['validate', ...names, '-o', 'json', ...args], { files });
  expect(stderr).toBe('');
  const { problems } = JSON.parse(stdout) as { problems: Problem[] };
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return problems.filter(({ code }) => codes.includes(code));
}

const named = (name: string, text: string) => text.replace('name: p', `name: ${name}`);
const kind = (name: string, more = '') => `any: [{resources: {kinds: [${name}]${more}}}]`;
const merge = (overlay: string) => `patchStrategicMerge: ${overlay}`;
const operations = (text: string) => `patchesJson6902: ${JSON.stringify(text)}`;
const labelled = (name: string, value: string, more = '') =>
  named(
    name,
    policy({ match: kind('ConfigMap', more), mutate: merge(`{metadata: {labels: {tier: ${value}}}}`) }),
  );
const without = 'annotations: {pod-policies.kyverno.io/autogen-controllers: none}';
const pods = (name: string, mutate: string) =>
  named(name, policy({ metadata: without, match: kind('Pod'), mutate }));

/** What is found in two policies, as codes. */
async function pair(one: string, other: string): Promise<readonly string[]> {
  return (await findings({ 'p1.yaml': one, 'p2.yaml': other })).map(({ code }) => code);
}

describe('two rules that write one place', () => {
  it('with different values: names both, the place, the order and an example', async () => {
    const found = await findings({ 'p1.yaml': labelled('a', 'gold'), 'p2.yaml': labelled('b', 'silver') });
    expect(found).toMatchObject([
      {
        code: 'KYM_CONFLICT',
        severity: 'warning',
        file: 'p2.yaml',
        line: 11,
        policy: 'b',
        rule: 'r',
        pointer: '/spec/rules/0/mutate/patchStrategicMerge/metadata/labels/tier',
      },
    ]);
    expect(found[0]?.message).toBe(
      'metadata.labels.tier is written by rule r of policy a (p1.yaml:2) too, with another value: "gold" there, "silver" here. policies run by name, a first, so it ends as "silver"; the other way round it would be "gold"',
    );
    expect(found[0]?.hint).toContain('"kind":"ConfigMap"');
  });

  it.each<[string, string, string, readonly string[]]>([
    ['the same value is none', labelled('a', 'gold'), labelled('b', 'gold'), []],
    [
      'objects that both match are needed: namespaces',
      labelled('a', 'gold', ', namespaces: [x]'),
      labelled('b', 'silver', ', namespaces: [w]'),
      [],
    ],
    [
      'labels',
      labelled('a', 'gold', ', selector: {matchLabels: {app: x}}'),
      labelled('b', 'silver', ', selector: {matchLabels: {app: w}}'),
      [],
    ],
    [
      'one policy for all, one for some',
      labelled('a', 'gold'),
      labelled('b', 'silver', ', namespaces: [w*]'),
      ['KYM_CONFLICT'],
    ],
    ['other kinds', labelled('a', 'gold'), pods('b', merge('{metadata: {labels: {tier: silver}}}')), []],
    [
      'two defaults: the first decides',
      named('a', policy({ mutate: merge('{data: {+(k): x}}') })),
      named('b', policy({ mutate: merge('{data: {+(k): w}}') })),
      ['KYM_CONFLICT'],
    ],
    [
      'a default and a value: the value stays in either order',
      named('a', policy({ mutate: merge('{data: {+(k): x}}') })),
      named('b', policy({ mutate: merge('{data: {k: w}}') })),
      [],
    ],
    [
      'one sets, one removes',
      named('a', policy({ mutate: merge('{data: {key: x}}') })),
      named('b', policy({ mutate: operations('- {op: remove, path: /data/key}') })),
      ['KYM_CONFLICT'],
    ],
    [
      'in a list item by its key',
      pods('a', merge('{spec: {containers: [{name: side, image: x}]}}')),
      pods('b', merge('{spec: {containers: [{name: side, image: w}]}}')),
      ['KYM_CONFLICT'],
    ],
    [
      'in all items',
      pods('a', merge('{spec: {containers: [{(name): "*", tty: true}]}}')),
      pods('b', merge('{spec: {containers: [{(name): "*", tty: false}]}}')),
      ['KYM_CONFLICT'],
    ],
    [
      'different items are none',
      pods('a', merge('{spec: {containers: [{name: one, image: x}]}}')),
      pods('b', merge('{spec: {containers: [{name: two, image: w}]}}')),
      [],
    ],
    ['a variable decides: not known', labelled('a', '"{{ request.name }}"'), labelled('b', 'gold'), []],
    [
      'a precondition keeps them apart',
      labelled('a', 'gold'),
      `${labelled('b', 'silver')}    preconditions: {all: [{key: "{{ request.object.metadata.labels.tier || '' }}", operator: Equals, value: ""}]}\n`,
      [],
    ],
  ])('%s', async (_, one, other, expected) => {
    expect(await pair(one, other)).toEqual(expected);
  });

  const rules = (...blocks: readonly string[]) =>
    `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  background: false\n  rules:\n${blocks
      .map(
        (more, index) =>
          `  - name: r${index}\n    match: {${kind('ConfigMap', more)}}\n    mutate: {${merge(`{data: {k: v${index}}}`)}}\n`,
      )
      .join('')}`;

  it('of one policy: the later may override the earlier for some objects, not for all', async () => {
    expect(await findings({ 'p.yaml': rules('', ', namespaces: [w]') })).toEqual([]);
    expect(await findings({ 'p.yaml': rules('', '') })).toMatchObject([{ code: 'KYM_CONFLICT', rule: 'r1' }]);
  });
});

describe('a policy that is not idempotent', () => {
  it('is shown with what it does to an example', async () => {
    const text = pods('p', operations('- {op: add, path: /spec/tolerations/-, value: {key: a}}'));
    const [found] = await findings({ 'p.yaml': text });
    expect(found).toMatchObject({
      code: 'KYM_NOT_IDEMPOTENT',
      policy: 'p',
      rule: 'r',
      pointer: '/spec/rules/0/mutate',
    });
    expect(found?.message).toContain(
      '/spec/tolerations/1 is absent after the first run and {"key":"a"} after the second',
    );
    expect(found?.hint).toContain('"name":"app"');
  });

  it.each<[string, string, number]>([
    ['a suffix grows', policy({ mutate: merge('{data: {key: "{{@}}x"}}') }), 1],
    ['the time of day', policy({ mutate: merge('{data: {at: "{{ time_now_utc() }}"}}') }), 1],
    ['a random name', policy({ mutate: merge('{data: {id: "{{ random(\'[a-z]{8}\') }}"}}') }), 1],
    [
      'unless it stays once it is there',
      policy({ mutate: merge('{data: {+(id): "{{ random(\'[a-z]{8}\') }}"}}') }),
      0,
    ],
    ['a merge', policy({ mutate: merge('{data: {a: b}}') }), 0],
    [
      'an item that is added by its key',
      pods('p', merge('{spec: {containers: [{name: side, image: x}]}}')),
      0,
    ],
    [
      'a rule that fails on the example says nothing',
      policy({
        mutate: merge('{data: {a: "{{ cm.data.a }}x"}}'),
        rule: 'context: [{name: cm, configMap: {name: a, namespace: b}}]',
      }),
      0,
    ],
  ])('%s', async (_, text, count) => {
    expect(
      (await findings({ 'p.yaml': text })).filter(({ code }) => code === 'KYM_NOT_IDEMPOTENT'),
    ).toHaveLength(count);
  });
});

describe('rules that set each other off', () => {
  const turn = (name: string, from: string, to: string) =>
    labelled(name, to, `, selector: {matchLabels: {tier: ${from}}}`);

  it('two, by labels', async () => {
    const found = await findings({ 'p1.yaml': turn('a', 'x', 'w'), 'p2.yaml': turn('b', 'w', 'x') });
    expect(found.map(({ code }) => code)).toEqual(['KYM_ENDLESS']);
    expect(found[0]?.message).toBe(
      'this rule and rule r of policy b (p2.yaml:2) trigger each other without end: /metadata/labels/tier changes in every round',
    );
  });

  it('three, in a ring', async () => {
    const found = await findings({
      'p1.yaml': turn('a', 'x', 'w'),
      'p2.yaml': turn('b', 'w', 'v'),
      'p3.yaml': turn('c', 'v', 'x'),
    });
    expect(found.map(({ code }) => code)).toEqual(['KYM_ENDLESS']);
    expect(found[0]?.message).toContain('policy c');
  });

  it('a chain ends', async () => {
    expect(await pair(turn('a', 'x', 'w'), turn('b', 'w', 'v'))).toEqual([]);
  });
});

describe('with objects to try on', () => {
  const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: w}\ndata: {k: v}\n';

  it('only what happens to them is found', async () => {
    const files = {
      'p1.yaml': labelled('a', 'gold', ', namespaces: [x]'),
      'p2.yaml': labelled('b', 'silver'),
    };
    expect(await findings({ ...files, 'r.yaml': object }, '-r', 'r.yaml')).toEqual([]);
    const [found] = await findings(
      { ...files, 'r.yaml': object.replace('namespace: w', 'namespace: x') },
      '-r',
      'r.yaml',
    );
    expect(found).toMatchObject({ code: 'KYM_CONFLICT', hint: expect.stringContaining('"name":"c"') });
  });
});

it('findings are failures with --strict only, and can be left out', async () => {
  const files = { 'a.yaml': labelled('a', 'gold'), 'b.yaml': labelled('b', 'silver') };
  const argv = ['validate', 'a.yaml', 'b.yaml'];
  expect(await kymera(argv, { files })).toMatchObject({ exitCode: 0 });
  expect(await kymera([...argv, '--strict'], { files })).toMatchObject({ exitCode: 1 });
  expect(await kymera([...argv, '--strict', '--ignore', 'KYM_CONFLICT'], { files })).toMatchObject({
    exitCode: 0,
  });
});

describe('no false alarms', () => {
  it('in the sample policies', async () => {
    const { stdout } = await kymera(['validate', join(root, 'policies')]);
    expect(stdout).toContain('no problems');
  });

  it('in the policies of Kyverno: those found are so', async ({ skip }) => {
    const corpus = findCorpus(root);
    if (corpus === undefined) return skip(noCorpus);
    const found: string[] = [];
    for (const { folder, policies, id } of readCorpus(corpus)) {
      const files = policies.map((file) => join(folder, file));
      const { stdout } = await kymera(['validate', ...files, '-o', 'json']);
      // Some cases hold policies of other kinds only.
      if (stdout === '') continue;
      const { problems } = JSON.parse(stdout) as { problems: Problem[] };
      const own = problems.filter(({ code }) => codes.includes(code));
      found.push(...own.map(({ code, rule }) => `${id}: ${code} ${rule}`));
    }
    // Each appends to a list or a text at every run.
    expect(found).toEqual([
      'cli-kyverno-test-mutate-karpenter-annotations-to-nodeselector: KYM_NOT_IDEMPOTENT hard-nodeselector-lifecycle-on-demand',
      'cli-policies-other-add-image-as-env-var: KYM_NOT_IDEMPOTENT pod-containers-inject-image',
      'cs-kyverno-mutate-cascading-first-rule-is-foreach: KYM_NOT_IDEMPOTENT mutation1',
      'cs-kyverno-mutate-cascading-no-foreach: KYM_NOT_IDEMPOTENT mutation1',
      'cs-kyverno-mutate-e2e-patchesJson6902-replace: KYM_NOT_IDEMPOTENT mutate-rules-host',
      'cs-kyverno-mutate-e2e-patchesjson6902-simple: KYM_NOT_IDEMPOTENT pod-containers-1-inject-image',
      'cs-kyverno-mutate-e2e-patchesjson6902-simple: KYM_NOT_IDEMPOTENT deploy-containers-1-inject-image',
      'cs-policies-other-add-image-as-env-var: KYM_NOT_IDEMPOTENT pod-containers-inject-image',
    ]);
  });
});

describe('many rules', () => {
  const rules = Array.from({ length: 260 }, (_, index) => ({
    name: `r${index}`,
    match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
    mutate: { patchStrategicMerge: { metadata: { labels: { [`l${index}`]: 'x' } } } },
  }));
  const large = JSON.stringify({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'large' },
    spec: { rules },
  });

  it('end the trial runs and are more than a server compiles, and validate reports both', async () => {
    const { stdout, exitCode } = await kymera(['validate', 'p.yaml', '-o', 'json'], {
      files: { 'p.yaml': large },
    });
    expect(exitCode).toBe(0);
    const { problems } = JSON.parse(stdout) as { problems: Problem[] };
    expect(problems).toContainEqual(
      expect.objectContaining({
        code: 'KYM_BUDGET_EXHAUSTED',
        severity: 'warning',
        message: 'the search for rules that are not idempotent was ended: it takes too many trial runs',
      }),
    );
    expect(problems).toContainEqual(
      expect.objectContaining({
        code: 'KYM_INPUT_TOO_LARGE',
        severity: 'warning',
        policy: 'large',
        pointer: '/spec/rules',
        line: 1,
        message: 'the policy has 260 rules, more than 250, the limit of a server',
      }),
    );
  });
});
