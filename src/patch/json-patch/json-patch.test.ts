import { describe, expect, it } from 'vitest';
import type { Scope } from '../../expression/scope.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { compileJsonPatch, JsonPatchError, type JsonPatchOptions } from './json-patch.ts';

function scopeOf(bindings: JsonObject): Scope {
  return {
    lookup: (name) => (Object.hasOwn(bindings, name) ? bindings[name] : undefined),
    snapshot: () => bindings,
    environment: { now: () => new Date(0), random: () => 0 },
  };
}

function compile(source: Json, options?: JsonPatchOptions) {
  const problems: string[] = [];
  const reporter: Reporter = {
    error: (_path, code, message) => problems.push(`${code}: ${message}`),
    warn: (_path, code, message) => problems.push(`warning ${code}: ${message}`),
  };
  return { patch: compileJsonPatch(source, ['mutate', 'patchesJson6902'], reporter, options), problems };
}

function run(source: Json, object: JsonObject, bindings: JsonObject = {}): JsonObject {
  const { patch, problems } = compile(source);
  expect(problems).toEqual([]);
  const result = patch?.apply(object, scopeOf(bindings));
  if (result?.status !== 'patched') expect.fail('not patched');
  return result.object;
}

/** What `value:` becomes when written as `text` and x is bound. */
function written(text: string, x: Json): Json | undefined {
  return run(`- op: add\n  path: /v\n  value: ${text}\n`, {}, { x }).v;
}

describe('the examples of the documents', () => {
  it('B2, B3: keys are added or replaced, data is created', () => {
    const source = `
- path: "/data/ship.properties"
  op: add
  value: |
    type=starship
    owner=utany.corp
- path: "/data/newKey1"
  op: add
  value: newValue1`;
    const data = { 'ship.properties': 'type=starship\nowner=utany.corp\n', newKey1: 'newValue1' };
    expect(run(source, { data: { a: '1', newKey1: 'old' } })).toEqual({ data: { a: '1', ...data } });
    expect(run(source, { kind: 'ConfigMap' })).toEqual({ kind: 'ConfigMap', data });
  });

  it('B4: a label is removed, and its absence is no error', () => {
    const source = '- path: "/metadata/labels/purpose"\n  op: remove';
    expect(run(source, { metadata: { labels: { purpose: 'x', a: 'b' } } })).toEqual({
      metadata: { labels: { a: 'b' } },
    });
    for (const object of [{ metadata: { labels: { a: 'b' } } }, { metadata: {} }, {}]) {
      expect(run(source, object)).toBe(object);
    }
  });

  it('B5: a container is inserted, then its command is added', () => {
    const source = `
- op: add
  path: "/spec/containers/1"
  value:
    name: busybox
    image: busybox:latest
- op: add
  path: "/spec/containers/1/command"
  value:
  - ls`;
    expect(run(source, { spec: { containers: [{ name: 'a' }] } })).toEqual({
      spec: { containers: [{ name: 'a' }, { name: 'busybox', image: 'busybox:latest', command: ['ls'] }] },
    });
  });

  it('B6: - appends, and creates the list', () => {
    const source = '- {op: add, path: /spec/tolerations/-, value: {key: networkzone, operator: Equal}}';
    const toleration = { key: 'networkzone', operator: 'Equal' };
    expect(run(source, { spec: { tolerations: [{ key: 'a' }] } })).toEqual({
      spec: { tolerations: [{ key: 'a' }, toleration] },
    });
    expect(run(source, { spec: {} })).toEqual({ spec: { tolerations: [toleration] } });
  });

  it('B7: ~1 and ~0 in a key', () => {
    const source = "- {op: add, path: /metadata/annotations/config.linkerd.io~1skip~0ports, value: '8200'}";
    expect(run(source, {})).toEqual({
      metadata: { annotations: { 'config.linkerd.io/skip~ports': '8200' } },
    });
  });

  it('B8: missing parents, missing list, index -1', () => {
    expect(run('- {op: add, path: /a/b/c, value: 1}', {})).toEqual({ a: { b: { c: 1 } } });
    expect(run('- {op: add, path: /l/-1, value: 1}', {})).toEqual({ l: [1] });
    expect(run('- {op: add, path: /l/-1, value: 3}', { l: [1, 2] })).toEqual({ l: [1, 2, 3] });
  });
});

describe('how a patch is written', () => {
  const expected = { a: 1 };
  it.each([
    ['YAML', '- op: add\n  path: /a\n  value: 1'],
    ['JSON', '[{"op": "add", "path": "/a", "value": 1}]'],
    ['JSON after a line break', '\n[{"op": "add", "path": "/a", "value": 1}]'],
    ['JSON indented by tabs', '[\n\t{\n\t\t"op": "add",\n\t\t"path": "/a",\n\t\t"value": 1\n\t}\n]'],
    ['with an alias', '- &one {op: add, path: /a, value: 1}\n- *one'],
    ['with tags', '- op: !!str add\n  path: !!str /a\n  value: 1'],
    ['with a comment', '# {{ no variable }}\n- {op: add, path: /a, value: 1} # {{ nor here }}'],
    ['with members nobody knows', '- {op: add, path: /a, value: 1, note: x}'],
  ])('%s', (_, source) => {
    expect(run(source, {})).toEqual(expected);
  });

  it.each<[string, Json]>([
    ['true', true],
    ['"true"', 'true'],
    ['yes', true],
    ['null', null],
    ['', null],
    ['5', 5],
    ["'5'", '5'],
    ['!!str 5', '5'],
    ['{__proto__: {a: 1}}', JSON.parse('{"__proto__":{"a":1}}')],
  ])('value: %s is %j', (text, expectedValue) => {
    expect(JSON.stringify(written(text, null))).toBe(JSON.stringify(expectedValue));
  });
});

describe('variables', () => {
  it.each<[string, string, Json, Json]>([
    ['quoted: a number becomes text', '"{{ x }}"', 5, '5'],
    ['single quotes too', "'{{ x }}'", true, 'true'],
    ['quoted: an object becomes JSON text', '"{{ x }}"', { a: 1 }, '{"a":1}'],
    ['quoted: text stays text', '"{{ x }}"', '5', '5'],
    ['quoted among text', '"a-{{ x }}-b"', 5, 'a-5-b'],
    ['a block scalar is text', '|\n    n={{ x }}\n', 5, 'n=5\n'],
    ['plain: a number', '{{ x }}', 5, 5],
    ['plain: an object', '{{ x }}', { a: [1] }, { a: [1] }],
    ['plain: a list', '{{ x }}', [1, 'a'], [1, 'a']],
    ['plain: null', '{{ x }}', null, null],
    ['plain: text that reads as a number', '{{ x }}', '5', 5],
    ['plain: text that reads as a boolean', '{{ x }}', 'true', true],
    ['plain: text that is JSON', '{{ x }}', '{"a": [1]}', { a: [1] }],
    ['plain: text that is a JSON list', '{{ x }}', '[1]', [1]],
    ['plain: text that YAML reads as a boolean', '{{ x }}', 'yes', true],
    ['plain among text: no JSON is read', '{{ x }}]', '[1', '[1]'],
    ['plain: text that only begins like JSON', '{{ x }}', '[a', '[a'],
    ['plain: other text', '{{ x }}', 'abc', 'abc'],
    ['plain: text that would be other YAML stays text', '{{ x }}', 'a: b # c', 'a: b # c'],
    ['plain: lines stay one text', '{{ x }}', 'a\n- op: remove\n  path: /b', 'a\n- op: remove\n  path: /b'],
    ['plain: text that holds a variable stays text', '{{ x }}', '{{ y }}', '{{ y }}'],
    ['quoted: text that holds a variable stays text', '"{{ x }}"', '{{ y }}', '{{ y }}'],
    [
      'quoted: quotes and line breaks cannot leave the quotes',
      '"{{ x }}"',
      '"\n- op: remove',
      '"\n- op: remove',
    ],
    ['plain: not a number of JSON', '{{ x }}', '.inf', '.inf'],
    ['plain among text: read as YAML after', '1{{ x }}', 5, 15],
    ['plain among text', 'v-{{ x }}', 5, 'v-5'],
    ['in a nested value', '{a: ["{{ x }}", {{ x }}], b: {c: {{ x }}}}', 5, { a: ['5', 5], b: { c: 5 } }],
    ['in a key', '{"k-{{ x }}": 1, {{ x }}: 2}', 'z', { 'k-z': 1, z: 2 }],
    ['a key named __proto__', '{"{{ x }}": 1}', '__proto__', JSON.parse('{"__proto__":1}')],
    ['escaped braces', '"\\{{ x }}"', 5, '{{ x }}'],
    ['an expression with quotes and braces', '{{ {a: x, "b-c": \'d\'} }}', 5, { a: 5, 'b-c': 'd' }],
    ['a nested variable', '"{{ to_upper(\'{{ x }}\') }}"', 'abc', 'ABC'],
  ])('%s', (_, text, x, expected) => {
    expect(JSON.stringify(written(text, x))).toBe(JSON.stringify(expected));
  });

  it('keeps deeply nested JSON text as text', () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    expect(written('{{ x }}', deep)).toBe(deep);
  });

  it('in a path are text, in quotes or not', () => {
    const object = { spec: { containers: [{ name: 'a' }, { name: 'b' }] } };
    for (const path of ['/spec/containers/{{ i }}/image', '"/spec/containers/{{ i }}/image"']) {
      expect(run(`- op: add\n  path: ${path}\n  value: x`, object, { i: 1 })).toEqual({
        spec: { containers: [{ name: 'a' }, { name: 'b', image: 'x' }] },
      });
    }
    expect(run('- {op: copy, from: "/{{ a }}", path: "{{ b }}"}', { p: 1 }, { a: 'p', b: '/q' })).toEqual({
      p: 1,
      q: 1,
    });
  });

  it('a tilde that starts no escape is a tilde, in constant and in variable paths', () => {
    expect(run('- {op: add, path: /a~b, value: 1}', {})).toEqual({ 'a~b': 1 });
    expect(run('- {op: add, path: "/{{ x }}", value: 1}', {}, { x: 'a~b' })).toEqual({ 'a~b': 1 });
    expect(run('- {{ x }}', {}, { x: { op: 'add', path: '/a~b', value: 1 } })).toEqual({ 'a~b': 1 });
  });

  it('may be the op, the operation or the patch', () => {
    const operation = { op: 'add', path: '/a', value: 1 };
    expect(run('- {op: "{{ x }}", path: /a, value: 1}', {}, { x: 'add' })).toEqual({ a: 1 });
    expect(run('- {{ x }}', {}, { x: operation })).toEqual({ a: 1 });
    expect(run('{{ x }}', {}, { x: [operation] })).toEqual({ a: 1 });
    expect(run('{{ to_string(x) }}', {}, { x: [operation] })).toEqual({ a: 1 });
    expect(run('{{ x }}', {}, { x: '- {op: add, path: /a, value: "{{ y }}"}' })).toEqual({ a: '{{ y }}' });
  });

  it.each<[string, Json, string]>([
    ['{{ x }}', 5, 'not a list of operations'],
    ['{{ x }}', 'a: [', 'not well-formed'],
    ['{{ x }}', [{ op: 'spam' }], "'op' must be one of"],
    ['- {{ x }}', 'text', 'must be an object'],
    ['- {op: add, path: "{{ x }}", value: 1}', 'no-slash', "must start with '/'"],
    ['- {op: add, path: "{{ x }}", value: 1}', '/a'.repeat(251), 'at most 250 steps'],
    ['- {{ x }}', { op: 'add', path: '/a'.repeat(251), value: 1 }, 'at most 250 steps'],
    ['- {{ x }}', { op: 'copy', path: '/a', from: '/a'.repeat(251) }, 'at most 250 steps'],
  ])('%s with %j fails when it is applied', (source, x, message) => {
    expect(() => run(source, {}, { x })).toThrow(message);
    expect(() => run(source, {}, { x })).toThrow(JsonPatchError);
  });

  it('reports the roots that they read', () => {
    const { patch } = compile('- {op: add, path: "/{{ a.b }}", value: ["{{ c }}", {{ request.x }}]}');
    expect([...(patch?.roots ?? [])].toSorted()).toEqual(['a', 'c', 'request']);
  });
});

describe('problems found at load', () => {
  it.each<[string, string[]]>([
    ['', ['KYM_JSON_PATCH_INVALID: the patch must be a list of operations, not a single value']],
    ['op: add\npath: /a', ['KYM_JSON_PATCH_INVALID: the patch must be a list of operations, not a map']],
    ['- just text', ['KYM_JSON_PATCH_INVALID: operation [0]: an operation must be a map with op and path']],
    [
      '- {op: spam, path: /a}\n- {path: /a}\n- {op: add, value: 1}\n- {op: add, path: /a}\n- {op: move, path: /a}',
      [
        "KYM_JSON_PATCH_INVALID: operation [0]: 'op' must be one of add, remove, replace, move, copy, test",
        "KYM_JSON_PATCH_INVALID: operation [1]: 'op' must be one of add, remove, replace, move, copy, test",
        "KYM_JSON_PATCH_INVALID: operation [2]: 'path' is missing",
        "KYM_JSON_PATCH_INVALID: operation [3]: 'value' is missing",
        "KYM_JSON_PATCH_INVALID: operation [4]: 'from' is missing",
      ],
    ],
    ['- {op: test, path: /a}', ["KYM_JSON_PATCH_INVALID: operation [0]: 'value' is missing"]],
    [
      '- {op: add, path: a, value: 1}',
      ["KYM_JSON_PATCH_INVALID: operation [0]: 'path': a path must start with '/'"],
    ],
    [`- {op: add, path: ${'/a'.repeat(251)}, value: 1}`, ['at most 250 steps']],
    ['- {op: add, path: 5, value: 1}', ["KYM_JSON_PATCH_INVALID: operation [0]: 'path' must be a string"]],
    [
      '- {op: add, path: /a, value: .nan}',
      ['KYM_YAML_SYNTAX: the patch is not well-formed YAML or JSON: .nan is not'],
    ],
    [
      '- {op: add, op: add}',
      ['KYM_YAML_SYNTAX: the patch is not well-formed YAML or JSON: Map keys must be unique (line 1'],
    ],
    ['- op: add\n   path: /a', ['KYM_YAML_SYNTAX: the patch is not well-formed YAML or JSON:']],
    ['['.repeat(20_000), ['KYM_YAML_SYNTAX: the patch is not well-formed YAML or JSON: the patch is nested']],
    ['- {<<: {op: add}}', ['merge keys (<<) cannot be used']],
    ['- {? [a] : 1}', ['a key must be a string']],
    ['- &a [*a]', ['KYM_YAML_SYNTAX: the patch is not well-formed YAML or JSON: the patch has more than']],
    [
      '- *a',
      [
        'KYM_YAML_SYNTAX: the patch is not well-formed YAML or JSON: an alias (*) refers to an unknown anchor',
      ],
    ],
  ])('%j', (source, expected) => {
    const { patch, problems } = compile(source);
    expect(patch).toBeUndefined();
    expect(problems).toEqual(expected.map((message) => expect.stringContaining(message)));
  });

  it('refuses aliases that make much of little', () => {
    const bomb = ['- &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 9; n++)
      bomb.push(
        `- &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(', ')}]`,
      );
    expect(compile(bomb.join('\n')).problems).toEqual([expect.stringContaining('more than 10000 values')]);
  });

  it('refuses variables in a path where the caller says so', () => {
    const source = '- {op: add, path: "/a/{{ x }}", value: 1}';
    expect(compile(source, { allowVariablesInPath: false }).problems).toEqual([
      expect.stringContaining("KYM_VARIABLE_FORBIDDEN: operation [0]: 'path' cannot contain variables"),
    ]);
    expect(compile(source).problems).toEqual([]);
  });

  it('reports an expression that does not parse', () => {
    expect(compile('- {op: add, path: /a, value: "{{ a b }}"}').problems).toEqual([
      expect.stringContaining('KYM_EXPRESSION_SYNTAX'),
    ]);
  });
});

describe('applying', () => {
  it('returns the object itself when nothing changed in the end', () => {
    const object = { a: { b: [1] } };
    expect(run('- {op: add, path: /a, value: {b: [1]}}', object)).toBe(object);
    expect(run('- {op: remove, path: /a/b}\n- {op: add, path: /a/b, value: [1]}', object)).toBe(object);
  });

  it('does nothing by halves, and says which operation failed and why without telling values', () => {
    const object = Object.freeze({ secret: 'hush', a: 'hush' });
    const { patch } = compile('- {op: add, path: /b, value: 1}\n- {op: test, path: /a, value: loud}');
    const apply = () => patch?.apply(object, scopeOf({}));
    expect(apply).toThrow(expect.objectContaining({ code: 'KYM_JSON_PATCH_FAILED', index: 1, path: ['a'] }));
    expect(apply).toThrow('patch operation [1] test /a: the value differs from the expected value');
    expect(object).toEqual({ secret: 'hush', a: 'hush' });
  });

  it('refuses to turn the object into something else', () => {
    expect(() => run("- {op: replace, path: '', value: 5}", { a: 1 })).toThrow(
      'with a value that is not an object',
    );
    expect(run("- {op: replace, path: '', value: {b: 1}}", { a: 1 })).toEqual({ b: 1 });
  });
});

describe('v1alpha1: mutate.patches', () => {
  const sidecars = [{ image: 'side:1' }, { image: 'side:2' }];
  const pod = (containers: Json): JsonObject => ({ spec: { containers } });

  it('A1: a list after an index and a slash is inserted there, item by item', () => {
    const source = [{ path: '/spec/containers/0/', op: 'add', value: sidecars }];
    expect(run(source, pod([{ image: 'app' }]))).toEqual(pod([...sidecars, { image: 'app' }]));
    expect(run(source, { spec: {} })).toEqual(pod(sidecars));
    expect(run([{ path: '/spec/containers/-/', op: 'add', value: sidecars }], pod([1]))).toEqual(
      pod([1, ...sidecars]),
    );
    expect(run([{ path: '/spec/containers/-2/', op: 'add', value: sidecars }], pod([1]))).toEqual(
      pod([...sidecars, 1]),
    );
  });

  it('a trailing slash elsewhere is as if it were not there', () => {
    expect(run([{ path: '/a/b/', op: 'add', value: [1] }], {})).toEqual({ a: { b: [1] } });
    expect(run([{ path: '/a/', op: 'add', value: [1] }], {})).toEqual({ a: [1] });
    expect(run([{ path: '/', op: 'add', value: 1 }], {})).toEqual({ '': 1 });
    expect(run([{ path: '/l/0/', op: 'add', value: 5 }], { l: [1] })).toEqual({ l: [5, 1] });
    expect(run([{ path: '/l/0/', op: 'remove' }], { l: [1] })).toEqual({ l: [] });
    expect(run([{ path: '/l/0', op: 'add', value: [5] }], { l: [1] })).toEqual({ l: [[5], 1] });
  });

  it('A2: a remove that cannot be applied is passed over', () => {
    const source = [{ path: '/metadata/labels/purpose', op: 'remove' }];
    expect(run(source, { metadata: { labels: { purpose: 'x' } } })).toEqual({ metadata: { labels: {} } });
    for (const object of [{ metadata: { labels: {} } }, { metadata: {} }, { metadata: { labels: ['x'] } }]) {
      expect(run(source, object)).toBe(object);
    }
  });

  it('other operations still fail', () => {
    expect(() => run([{ path: '/a', op: 'replace', value: 1 }], {})).toThrow('/a does not exist');
  });

  it('knows add, replace and remove only', () => {
    expect(compile([{ op: 'test', path: '/a', value: 1 }]).problems).toEqual([
      expect.stringContaining("'op' must be one of add, replace, remove"),
    ]);
    expect(compile({ op: 'add' }).problems).toEqual([
      expect.stringContaining('must be a list of operations'),
    ]);
  });

  it('fills in variables, a single one with its type', () => {
    expect(
      run([{ op: 'add', path: '/{{ k }}', value: { n: '{{ n }}', t: 'n={{ n }}' } }], {}, { k: 'a', n: 5 }),
    ).toEqual({
      a: { n: 5, t: 'n=5' },
    });
  });
});

describe('a number or boolean', () => {
  const pod: JsonObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: { n: '1' } },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'a' }] },
  };
  const widget: JsonObject = {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    spec: { mode: 'off', level: 1 },
  };

  it.each<[string, JsonObject, string, JsonObject]>([
    [
      'replaces a label',
      pod,
      '{op: replace, path: /metadata/labels/n, value: 5}',
      { metadata: { labels: { n: '5' } } },
    ],
    [
      'is added to labels',
      pod,
      '{op: add, path: /metadata/labels/b, value: true}',
      { metadata: { labels: { b: 'true' } } },
    ],
    [
      'is inside an added map',
      pod,
      '{op: add, path: /metadata/annotations, value: {x: 1, y: z}}',
      { metadata: { annotations: { x: '1', y: 'z' } } },
    ],
    [
      'is inside an added item',
      pod,
      '{op: add, path: /spec/containers/-, value: {name: b, tty: true, env: [{name: X, value: 1}]}}',
      { spec: { containers: [{ name: 'a' }, { name: 'b', tty: true, env: [{ name: 'X', value: '1' }] }] } },
    ],
    [
      'is appended to arguments',
      pod,
      '{op: add, path: /spec/containers/0/args/-, value: 80}',
      { spec: { containers: [{ args: ['80'] }] } },
    ],
    [
      'is copied to a label',
      pod,
      '{op: copy, from: /spec/terminationGracePeriodSeconds, path: /metadata/labels/s}',
      { metadata: { labels: { s: '30' } }, spec: { terminationGracePeriodSeconds: 30 } },
    ],
    [
      'is moved to a label',
      pod,
      '{op: move, from: /spec/terminationGracePeriodSeconds, path: /metadata/labels/s}',
      { metadata: { labels: { s: '30' } } },
    ],
    [
      'stays where a number belongs',
      pod,
      '{op: replace, path: /spec/terminationGracePeriodSeconds, value: 5}',
      { spec: { terminationGracePeriodSeconds: 5 } },
    ],
    [
      'replaces a string of a custom resource',
      widget,
      '{op: replace, path: /spec/mode, value: true}',
      { spec: { mode: 'true', level: 1 } },
    ],
    [
      'stays in another field of it',
      widget,
      '{op: add, path: /spec/level, value: 2}',
      { spec: { level: 2 } },
    ],
  ])('%s', (_, object, operation, after) => {
    expect(run(`- ${operation}`, object)).toMatchObject(after);
  });

  it('comes from a variable', () => {
    const source =
      '- {op: add, path: /metadata/labels/n, value: "{{ n }}"}\n- {op: add, path: /metadata/annotations, value: {{ all }}}';
    expect(run(source, pod, { n: 5, all: { x: 1 } })).toMatchObject({
      metadata: { labels: { n: '5' }, annotations: { x: '1' } },
    });
  });

  it('is moved away', () => {
    const moved = run(
      '- {op: move, from: /spec/terminationGracePeriodSeconds, path: /metadata/labels/s}',
      pod,
    );
    expect(moved['spec']).toEqual({ containers: [{ name: 'a' }] });
  });
});
