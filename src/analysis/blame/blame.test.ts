import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestFor } from '../../admission/resource-request.ts';
import { mutateSync } from '../../engine/mutate.ts';
import type { Outcome } from '../../engine/outcome.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { loadDocuments } from '../../policy/load.ts';
import { createSnapshot } from '../../policy/registry/registry.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { type Blame, blame, type Writer } from './blame.ts';
import { blameLines } from './lines.ts';

const match = 'match: {any: [{resources: {kinds: [Pod]}}]}';

/** Rules of one policy, each as the YAML of its `mutate` block in flow style. */
function policy(name: string, rules: Readonly<Record<string, string>>): string {
  const written = Object.entries(rules).map(
    ([rule, mutate]) => `  - {name: ${rule}, ${match}, mutate: ${mutate}}\n`,
  );
  return `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: ${name}
  annotations: {pod-policies.kyverno.io/autogen-controllers: none}
spec:
  rules:
${written.join('')}`;
}

const merge = (patch: string) => `{patchStrategicMerge: ${patch}}`;
const json = (...operations: string[]) => `{patchesJson6902: '[${operations.join(', ')}]'}`;

function pod(parts: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, ...parts };
}

function run(object: JsonObject, ...texts: readonly string[]) {
  const { policies, exceptions, problems } = loadDocuments(
    texts.map((text, index) => ({ file: `${index}.yaml`, text })),
  );
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const request = requestFor(object, { operation: 'CREATE' });
  const result = mutateSync(request, createSnapshot(policies, exceptions, { order: 'given' }));
  return { result, found: blame(request.object as JsonObject, result) };
}

function named(writers: readonly Writer[]): string {
  return writers.map(({ rule }) => rule.name).join(' < ');
}

function changesOf({ changes }: Blame): string[] {
  return changes.map(
    ({ op, path, by, earlier }) =>
      `${op} ${path} ${named([by])}${earlier.length > 0 ? ` over ${named(earlier)}` : ''}`,
  );
}

/** The changed lines, with the rules that wrote them. */
function linesOf(object: JsonObject, { result, found }: ReturnType<typeof run>): string[] {
  return blameLines(found, writeYaml(object), writeYaml(result.object as JsonObject))
    .filter(({ kind }) => kind !== 'same')
    .map(({ kind, text, writers }) => `${kind === 'added' ? '+' : '-'}${text} | ${named(writers)}`);
}

const container = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: `${name}:1`,
  ...more,
});

describe('blame', () => {
  test('two rules write into one list, and the second shifts the items of the first', () => {
    const object = pod({ spec: { containers: [container('app')] } });
    const done = run(
      object,
      policy('p', {
        append: json(
          '{"op": "add", "path": "/spec/containers/-", "value": {"name": "log", "image": "log:2"}}',
        ),
        prepend: json(
          '{"op": "add", "path": "/spec/containers/0", "value": {"name": "init", "image": "init:3"}}',
        ),
        pull: merge('{spec: {containers: [{(name): log, imagePullPolicy: Always}]}}'),
      }),
    );
    expect(changesOf(done.found)).toEqual([
      'add /spec/containers/0 prepend',
      'add /spec/containers/2 append',
      'add /spec/containers/2/imagePullPolicy pull',
    ]);
    expect(done.found.writersOf('/spec/containers/1/image')).toEqual([]);
    expect(linesOf(object, done)).toEqual([
      '+  - name: init | prepend',
      '+    image: init:3 | prepend',
      '+  - name: log | append',
      '+    image: log:2 | append',
      '+    imagePullPolicy: Always | pull',
    ]);
  });

  test('a later rule overwrites', () => {
    const object = pod({ spec: { hostNetwork: true } });
    const done = run(
      object,
      policy('a', { first: merge('{metadata: {labels: {team: a, tier: web}}}') }),
      policy('b', { second: merge('{metadata: {labels: {team: b}}, spec: {hostNetwork: false}}') }),
    );
    expect(changesOf(done.found)).toEqual([
      'add /metadata/labels first',
      'add /metadata/labels/team second over first',
      'replace /spec/hostNetwork second',
    ]);
    expect(linesOf(object, done)).toEqual([
      '+  labels: | first',
      '+    team: b | first < second',
      '+    tier: web | first',
      '-  hostNetwork: true | second',
      '+  hostNetwork: false | second',
    ]);
  });

  test('a later rule removes what the first one changed, and what the object had', () => {
    const object = pod({ spec: { nodeSelector: { a: '1', b: '2' }, hostNetwork: true, dnsPolicy: 'None' } });
    const done = run(
      object,
      policy('p', {
        write: merge('{spec: {hostNetwork: false, priority: 3}}'),
        part: json('{"op": "remove", "path": "/spec/nodeSelector/a"}'),
        whole: json(
          '{"op": "remove", "path": "/spec/nodeSelector"}',
          '{"op": "remove", "path": "/spec/hostNetwork"}',
          '{"op": "remove", "path": "/spec/priority"}',
        ),
      }),
    );
    expect(changesOf(done.found)).toEqual([
      'remove /spec/nodeSelector whole',
      'remove /spec/nodeSelector/a part',
      'remove /spec/hostNetwork whole',
    ]);
    expect(linesOf(object, done)).toEqual([
      '-  nodeSelector: | whole',
      '-    a: "1" | part',
      '-    b: "2" | whole',
      '-  hostNetwork: true | whole',
    ]);
  });

  test('a moved value keeps the writers of its parts', () => {
    const object = pod({
      spec: {
        containers: ['a', 'b', 'c', 'd'].map((name) => container(name)),
        initContainers: [container('x')],
      },
    });
    const done = run(
      object,
      policy('p', {
        pull: merge('{spec: {containers: [{(name): d, imagePullPolicy: Always}]}}'),
        move: json(
          '{"op": "move", "from": "/spec/containers/3", "path": "/spec/containers/0"}',
          '{"op": "move", "from": "/spec/containers/2", "path": "/spec/initContainers/-"}',
        ),
      }),
    );
    expect(linesOf(object, done)).toEqual([
      '+  - name: d | move',
      '+    image: d:1 | move',
      '+    imagePullPolicy: Always | pull',
      '-  - name: b | move',
      '-    image: b:1 | move',
      '-  - name: d | move',
      '-    image: d:1 | move',
      '+  - name: b | move',
      '+    image: b:1 | move',
    ]);
  });

  test('items with equal lines: the written item is blamed, not the one below it', () => {
    const object = pod({
      spec: { containers: [container('a', { tty: true }), container('b', { tty: true })] },
    });
    const done = run(
      object,
      policy('p', {
        insert: json(
          '{"op": "add", "path": "/spec/containers/1", "value": {"name": "new", "image": "new:1", "tty": true}}',
        ),
      }),
    );
    expect(linesOf(object, done)).toEqual([
      '+  - name: new | insert',
      '+    image: new:1 | insert',
      '+    tty: true | insert',
    ]);
  });

  test('a rule that undoes another leaves no change', () => {
    const object = pod({ spec: { containers: [container('a'), container('b')], priority: 1 } });
    const done = run(
      object,
      policy('p', {
        change: json(
          '{"op": "remove", "path": "/spec/containers/0"}',
          '{"op": "replace", "path": "/spec/priority", "value": 2}',
        ),
        back: json(
          '{"op": "add", "path": "/spec/containers/0", "value": {"name": "a", "image": "a:1"}}',
          '{"op": "replace", "path": "/spec/priority", "value": 1}',
        ),
      }),
    );
    expect(done.found.changes).toEqual([]);
    expect(linesOf(object, done)).toEqual([]);
  });

  test('an item that is replaced by another: the remover and the writer are named', () => {
    const object = pod({ spec: { containers: [container('a'), container('b')] } });
    const done = run(
      object,
      policy('p', {
        take: json('{"op": "remove", "path": "/spec/containers/0"}'),
        give: json('{"op": "add", "path": "/spec/containers/0", "value": {"name": "z", "image": "z:1"}}'),
      }),
    );
    expect(changesOf(done.found)).toEqual(['remove /spec/containers/0 take', 'add /spec/containers/0 give']);
  });

  test('an empty map or list that is filled belongs to the rule that filled it', () => {
    const object = pod({ spec: { containers: [], nodeSelector: {} } });
    const done = run(
      object,
      policy('p', {
        first: merge('{spec: {containers: [{name: a, image: "a:1"}], nodeSelector: {a: b}}}'),
        second: merge('{spec: {nodeSelector: {c: d}}}'),
      }),
    );
    expect(linesOf(object, done)).toEqual([
      '-  containers: [] | first',
      '-  nodeSelector: {} | first',
      '+  containers: | first',
      '+  - name: a | first',
      '+    image: a:1 | first',
      '+  nodeSelector: | first',
      '+    a: b | first',
      '+    c: d | second',
    ]);
  });

  test('the changes of a failed policy are not blamed', () => {
    const object = pod({ spec: {} });
    const { found } = run(
      object,
      policy('fails', {
        write: merge('{metadata: {labels: {a: b}}}'),
        fail: merge('{metadata: {labels: {b: "{{ request.object.metadata.nowhere.deep }}"}}}'),
      }),
      policy('works', { kept: merge('{metadata: {labels: {a: c}}}') }),
    );
    expect(changesOf(found)).toEqual(['add /metadata/labels kept']);
  });

  test('of a block of text, only the changed lines are blamed', () => {
    const object = pod({ metadata: { name: 'web', annotations: { conf: 'one\ntwo\nthree\n' } } });
    const done = run(
      object,
      policy('p', {
        text: json('{"op": "replace", "path": "/metadata/annotations/conf", "value": "one\\n2\\nthree\\n"}'),
      }),
    );
    expect(linesOf(object, done)).toEqual([
      '-    conf: | | text',
      '+    conf: | | text',
      '-      two | text',
      '+      2 | text',
    ]);
  });
});

const scalar = fc.constantFrom<Json>('a', 'b', 1, true, null, 'x\ny\n');
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    // A diff of lines also shows a change of the order of keys, which is not a change of the object.
    fc
      .dictionary(fc.constantFrom('a', 'b', 'name'), tie('value'), { maxKeys: 3 })
      .map((members) => Object.fromEntries(Object.entries(members).sort())),
  ),
})).value;
const state = fc.record({ root: value, list: fc.array(value, { maxLength: 4 }) });

test('every changed line has a writer, whatever rules do', () => {
  fc.assert(
    fc.property(fc.array(state, { minLength: 2, maxLength: 5 }), (states) => {
      const outcomes = states.slice(1).map(
        (after, index) =>
          ({
            status: 'applied',
            policy: {},
            before: states[index],
            after,
            rule: { name: `${index}` },
          }) as unknown as Outcome,
      );
      const before = states[0] as JsonObject;
      const after = states.at(-1) as JsonObject;
      const lines = blameLines(
        blame(before, { object: after, outcomes, failedPolicies: [] }),
        writeYaml(before),
        writeYaml(after),
      );
      const textOf = (other: string) =>
        lines
          .filter(({ kind }) => kind !== other)
          .map(({ text }) => `${text}\n`)
          .join('');
      expect(textOf('added')).toBe(writeYaml(before));
      expect(textOf('removed')).toBe(writeYaml(after));
      expect(lines.filter(({ kind, writers }) => kind !== 'same' && writers.length === 0)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
