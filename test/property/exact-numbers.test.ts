import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../src/json/json-text.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import type { UserPatchOperation } from '../../src/json/patch/operation.ts';
import type { Json, JsonObject } from '../../src/json/value.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { kymera } from '../cli/in-process.testing.ts';
import { responseIn, reviewOf, startTestServer } from '../server/running-server.testing.ts';

/** The source of a JSON number: integers of up to 64 bits, and decimals. */
const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const nearLimit = fc.bigInt({ min: -3n, max: 3n }).map((offset) => String(2n ** 53n + offset));
const decimals = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((double) => JSON.stringify(double + 0));
const numbers = fc.oneof({ weight: 3, arbitrary: integers }, nearLimit, { weight: 2, arbitrary: decimals });

/** kustomize prints an integer beyond 64 bits as a double, and so does `build`. */
const builtNumbers = numbers.filter((number) => !/^-?\d+$/.test(number) || isOf64Bits(BigInt(number)));

function isOf64Bits(integer: bigint): boolean {
  return integer >= -(2n ** 63n) && integer < 2n ** 64n;
}

/** Each form of a rule copies the number in its own way. */
const copying = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: copy}
spec:
  background: false
  rules:
  - name: merge
    match: {any: [{resources: {kinds: [Widget]}}]}
    context:
    - {name: entry, variable: {jmesPath: request.object.spec.number}}
    - {name: parsed, variable: {value: "{{ parse_json(request.object.spec.json) }}"}}
    preconditions:
      all:
      - {key: "{{ request.object.spec.number }}", operator: Equals, value: "{{ request.object.spec.list[1] }}"}
      - {key: "{{ request.object.spec.number }}", operator: GreaterThanOrEquals, value: "{{ entry }}"}
      - {key: "{{ contains(request.object.spec.list, request.object.spec.number) }}", operator: Equals, value: true}
      - {key: "{{ request.object.spec.number == to_number(request.object.spec.json) }}", operator: Equals, value: true}
      - {key: "{{ to_string(request.object.spec.number) }}", operator: Equals, value: "{{ request.object.spec.json }}"}
      - {key: "{{ type(request.object.spec.number) }}", operator: Equals, value: number}
    mutate:
      patchStrategicMerge:
        spec:
          variable: "{{ request.object.spec.number }}"
          entry: "{{ entry }}"
          parsed: "{{ parsed }}"
          yaml: "{{ parse_yaml(request.object.spec.json) }}"
          least: "{{ min([request.object.spec.number, request.object.spec.list[1]]) }}"
          merged: "{{ merge(request.object.spec.map, \`{}\`) }}"
  - name: operations
    match: {any: [{resources: {kinds: [Widget]}}]}
    mutate:
      patchesJson6902: |-
        - op: test
          path: /spec/map/number
          value: {{ request.object.spec.number }}
        - {op: copy, from: /spec/number, path: /spec/copied}
        - {op: move, from: /spec/map/number, path: /spec/moved}
        - op: add
          path: /spec/list/-
          value: {{ request.object.spec.number }}
  - name: elements
    match: {any: [{resources: {kinds: [Widget]}}]}
    mutate:
      foreach:
      - list: request.object.spec.list
        patchesJson6902: |-
          - op: add
            path: /spec/elements/-
            value: {{ element }}
`;

function widget(number: string): string {
  return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"default"},"spec":{"number":${number},"json":"${number}","list":["a",${number}],"map":{"number":${number}},"elements":[]}}`;
}

function copied(number: string): Json {
  return parseJson(
    `{"number":${number},"json":"${number}","list":["a",${number},${number}],"map":{},"elements":["a",${number},${number}],"variable":${number},"entry":${number},"parsed":${number},"yaml":${number},"least":${number},"merged":{"number":${number}},"copied":${number},"moved":${number}}`,
  );
}

const specOf = (object: Json) => (object as { spec: Json }).spec;
const runs = { numRuns: 25 };

describe('every digit of a number is kept', () => {
  it('by a review', async () => {
    const server = await startTestServer(copying);
    await fc.assert(
      fc.asyncProperty(numbers, async (number) => {
        const object = parseJson(widget(number)) as JsonObject;
        const { patch = '' } = responseIn(await server.post('/mutate', stringifyJson(reviewOf(object))));
        const operations = parseJson(Buffer.from(patch, 'base64').toString());
        const after = applyPatch(object, operations as unknown as UserPatchOperation[]);
        expect(specOf(after)).toEqual(copied(number));
      }),
      { numRuns: 100 },
    );
  });

  const inputs = {
    JSON: (number: string) => widget(number),
    YAML: (number: string) => writeYaml(parseJson(widget(number))),
    'YAML with comments': (number: string) => `${writeYaml(parseJson(widget(number)))}# end\n`,
  };
  it.each(Object.entries(inputs))('by apply, from %s', async (_, input) => {
    await fc.assert(
      fc.asyncProperty(numbers, async (number) => {
        const files = { 'policy.yaml': copying, 'widget.yaml': input(number) };
        const print = async (format: string) =>
          (await kymera(['apply', 'policy.yaml', '-r', 'widget.yaml', '-o', format, '-q'], { files })).stdout;
        expect(specOf(parseYamlText(await print('yaml')))).toEqual(copied(number));
        const list = parseJson(await print('json')) as { items: readonly Json[] };
        expect(list.items.map(specOf)).toEqual([copied(number)]);
        const { patch } = parseYamlText(await print('patch')) as unknown as { patch: UserPatchOperation[] };
        expect(specOf(applyPatch(parseJson(widget(number)), patch))).toEqual(copied(number));
      }),
      runs,
    );
  });

  it('by build, with patches and policies', async () => {
    await fc.assert(
      fc.asyncProperty(builtNumbers, async (number) => {
        const patch = `- {"op": "add", "path": "/spec/patched", "value": ${number}}`;
        const merge = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"merged2":${number}}}`;
        const source = { kind: 'Widget', name: 'w', fieldPath: 'spec.number' };
        const targets = [
          { select: { kind: 'Widget' }, fieldPaths: ['spec.replaced'], options: { create: true } },
        ];
        const files = {
          'policy.yaml': copying,
          'widget.yaml': widget(number),
          'kustomization.yaml': JSON.stringify({
            resources: ['widget.yaml'],
            patches: [{ target: { kind: 'Widget' }, patch }, { patch: merge }],
            replacements: [{ source, targets }],
          }),
        };
        const { stdout } = await kymera(['build', '.', '--policies', 'policy.yaml', '-q'], { files });
        const added = parseJson(`{"patched":${number},"merged2":${number},"replaced":${number}}`);
        expect(specOf(parseYamlText(stdout))).toEqual({
          ...(copied(number) as JsonObject),
          ...(added as JsonObject),
        });
      }),
      runs,
    );
  });

  it('by diff', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 2n }), async (integer) => {
        const files = { 'a.yaml': widget(String(integer)), 'b.yaml': widget(String(integer + 1n)) };
        const same = await kymera(['diff', 'a.yaml', 'a.yaml'], { files });
        expect(same).toMatchObject({ exitCode: 0, stdout: '' });
        const { exitCode, stdout } = await kymera(['diff', 'b.yaml', 'a.yaml'], { files });
        expect(exitCode).toBe(1);
        expect(stdout).toMatch(new RegExp(`^-  - ${integer}$`, 'm'));
        expect(stdout).toMatch(new RegExp(`^\\+  number: ${integer + 1n}$`, 'm'));
      }),
      runs,
    );
  });

  const existing = (rule: string) => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: existing}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    ${rule}
`;
  const trigger = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: trigger, namespace: default}\n';
  const copyTarget = existing(
    'mutate: {targets: [{apiVersion: example.com/v1, kind: Widget, namespace: default, name: w}], patchStrategicMerge: {spec: {copied: "{{ target.spec.number }}"}}}',
  );
  const clone = existing(
    'generate: {apiVersion: example.com/v1, kind: Widget, namespace: other, name: w, clone: {namespace: default, name: w}}',
  );
  it.each([
    ['an update of an existing object', copyTarget, 'default', ['number', 'copied']],
    ['a generated copy', clone, 'other', ['number']],
  ])('by %s', async (_, policy, namespace, fields) => {
    await fc.assert(
      fc.asyncProperty(numbers, async (number) => {
        const files = { 'policy.yaml': policy, 'objects/w.yaml': widget(number), 'objects/t.yaml': trigger };
        const argv = [
          'existing',
          'plan',
          'policy.yaml',
          '-r',
          'objects',
          '--operation',
          'CREATE',
          '-o',
          'json',
          '-q',
        ];
        const { stdout } = await kymera(argv, { files });
        const changes = parseJson(stdout) as unknown as {
          namespace: string;
          object: { spec: JsonObject };
        }[];
        const after = changes.find((change) => change.namespace === namespace)?.object;
        expect(fields.map((field) => after?.spec[field])).toEqual(fields.map(() => parseJson(number)));
      }),
      runs,
    );
  });
});
