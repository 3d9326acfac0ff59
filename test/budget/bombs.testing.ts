import type { JsonObject } from '../../src/json/value.ts';

/** A rule that would run for minutes or take gigabytes, and the object it needs for that. */
export interface Bomb {
  readonly name: string;
  /** The rule without name and match. */
  readonly rule: JsonObject;
  readonly data: Readonly<Record<string, string>>;
  /** Other fields of the object. */
  readonly fields?: JsonObject;
  /** Evaluated by the patch of a ClusterPolicy of kyverno.io/v1 unless stated otherwise. */
  readonly apiVersion?: string;
}

/** Sets an annotation to the value of an expression. */
function annotate(name: string, expression: string, data: Bomb['data'] = {}): Bomb {
  const annotations = { x: `{{ ${expression} }}` };
  return { name, data, rule: { mutate: { patchStrategicMerge: { metadata: { annotations } } } } };
}

/** Writes the value of an expression, whatever its type. */
function write(name: string, expression: string, data: Bomb['data'] = {}): Bomb {
  return { name, data, rule: { mutate: { patchStrategicMerge: { spec: { x: `{{ ${expression} }}` } } } } };
}

const setLabel = { patchStrategicMerge: { metadata: { labels: { a: 'b' } } } };

function condition(name: string, key: string, operator: string, value: string, data: Bomb['data']): Bomb {
  return { name, data, rule: { preconditions: { all: [{ key, operator, value }] }, mutate: setLabel } };
}

function nest(times: number, inner: string, wrap: (expression: string) => string): string {
  let expression = inner;
  for (let level = 0; level < times; level++) expression = wrap(expression);
  return expression;
}

const hundred = `\`[${Array.from({ length: 100 }, (_, index) => index).join(',')}]\``;
const data = (key: string) => `request.object.data.${key}`;
const doubled = (times: number) => `[\`1\`]${' | [@,@][]'.repeat(times)}`;
const shared = (times: number) => `\`1\`${' | [@,@]'.repeat(times)}`;
const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index.toString(36)}`);
const kilobytes = (count: number, text = 'a') => text.repeat((count * 1024) / text.length);

function loop(name: string, depth: number, size: number): Bomb {
  const list = `\`[${Array.from({ length: size }, (_, index) => index).join(',')}]\``;
  let body: JsonObject = { list, patchStrategicMerge: { metadata: { labels: { a: 'b' } } } };
  for (let level = 1; level < depth; level++) body = { list, foreach: [body] };
  return { name, data: {}, rule: { mutate: { foreach: [body] } } };
}

const manyOperations = Array.from({ length: 2_000 }, (_, index) => ({
  op: 'add',
  path: '/spec/list/0',
  value: index,
}));

export const bombs: readonly Bomb[] = [
  annotate('random text of nothing', "random('((()*)*)*')"),
  annotate('random text of many short texts', "random('((ab?)*)*')"),
  annotate('random text of a long class', `random('[${kilobytes(9, 'abcdefgh')}]')`),
  annotate('a list that doubles', `length(${doubled(29)})`),
  annotate('a text of a list that shares its items', `to_string(${shared(40)})`),
  annotate('a text of an object that shares its members', `to_string(\`1\`${' | {a: @, b: @}'.repeat(40)})`),
  annotate('lists that are equal item by item', `(${shared(40)}) == (${shared(40)})`),
  annotate('a list searched for a shared list', `contains([${shared(40)}], ${shared(40)})`),
  write('a value that shares its items', shared(40)),
  {
    name: 'a JSON patch with a shared value',
    data: {},
    rule: {
      mutate: { patchesJson6902: `- {op: add, path: /spec, value: "{{ ${shared(40)} }}"}` },
    },
  },
  annotate(
    'map in map in map in map',
    `length(${nest(4, '@', (inner) => `map(&length(to_array(${inner})), ${hundred})`)})`,
  ),
  annotate(
    'projections of projections',
    `length(${nest(4, '@', (inner) => `${hundred} | [].[${inner}, @][]`)}[])`,
  ),
  annotate(
    'a filter in a filter',
    `length(split(${data('list')}, ',')[?contains(split('${words(3_000).join(',')}', ','), @)])`,
    { list: words(3_000).reverse().join(',') },
  ),
  loop('loops in loops', 3, 300),
  {
    name: '10,000 merges that each add an item',
    data: {},
    fields: { kind: 'Pod', spec: { containers: [{ name: 'first', image: 'nginx' }] } },
    rule: {
      mutate: {
        foreach: [
          {
            list: `\`[${'1,'.repeat(9_999)}1]\``,
            patchStrategicMerge: { spec: { containers: [{ name: 'c{{ elementIndex }}', image: 'nginx' }] } },
          },
        ],
      },
    },
  },
  {
    name: 'a loop that grows a list',
    data: {},
    fields: { spec: { list: [] } },
    rule: {
      mutate: {
        foreach: [
          {
            list: `\`[${'1,'.repeat(30_000)}1]\``,
            patchesJson6902: '- {op: add, path: /spec/list/0, value: "{{ elementIndex }}"}',
          },
        ],
      },
    },
  },
  {
    name: 'a loop that tries an anchor on a long list',
    data: {},
    fields: {
      kind: 'Pod',
      spec: { containers: words(3_000).map((name) => ({ name, image: 'nginx' })) },
    },
    rule: {
      mutate: {
        foreach: [
          {
            list: 'request.object.spec.containers',
            patchStrategicMerge: { spec: { containers: [{ '(name)': '{{ element.name }}', tty: true }] } },
          },
        ],
      },
    },
  },
  {
    name: 'anchors tried on a long list',
    data: {},
    fields: {
      kind: 'Pod',
      spec: { containers: words(2_000).map((name) => ({ name, image: `${name}/${kilobytes(1)}` })) },
    },
    rule: {
      mutate: {
        patchStrategicMerge: {
          spec: {
            containers: words(2_000).map((name) => ({ '(image)': `*${name}?b*`, stdin: true })),
          },
        },
      },
    },
  },
  annotate(
    'replace_all in replace_all',
    nest(8, "'a'", (inner) => `replace_all(${inner}, 'a', '${kilobytes(1)}')`),
  ),
  annotate(
    'replace between all characters',
    nest(5, "'aaaaaaaa'", (inner) => `replace_all(${inner}, '', '${kilobytes(1)}')`),
  ),
  annotate('join with a long separator', `join(${data('text')}, split(${data('text')}, 'a'))`, {
    text: kilobytes(64),
  }),
  annotate(
    'a text that escapes itself',
    nest(60, "'\"'", (inner) => `to_string([${inner}])`),
  ),
  annotate(
    'base64 of base64',
    nest(60, data('text'), (inner) => `base64_encode(${inner})`),
    { text: kilobytes(1) },
  ),
  annotate('hashes of a long text', `map(&sha256('{{ ${data('text')} }}'), ${hundred})`, {
    text: kilobytes(512),
  }),
  annotate(
    'a long text in characters, many times',
    `map(&length(reverse('{{ ${data('text')} }}')), ${hundred})`,
    { text: kilobytes(128, 'ä') },
  ),
  annotate(
    'an alternation of 900 words',
    `regex_match('${Array.from({ length: 900 }, (_, index) => `w${index.toString(36)}q`).join('|')}', ${data('text')})`,
    { text: kilobytes(256, 'w1w2w3w4') },
  ),
  annotate('a repetition of repetitions', `regex_match('^(a+)+$', ${data('text')})`, {
    text: `${kilobytes(512)}b`,
  }),
  annotate(
    'a replacement that looks at everything each time',
    `length(regex_replace_all('(.*)y|x', ${data('text')}, '-'))`,
    { text: kilobytes(64, 'x') },
  ),
  annotate(
    'a replacement that grows',
    nest(6, "'a'", (inner) => `regex_replace_all_literal('a', ${inner}, '${kilobytes(1)}')`),
  ),
  annotate(
    'a bounded expression with many choices',
    `length(regex_replace_all_literal('(a|b|)(a|b|)(a|b|)(a|b|)c', ${data('text')}, ''))`,
    { text: kilobytes(512) },
  ),
  annotate(
    'a wildcard that matches everywhere but at its end',
    `pattern_match(${data('pattern')}, ${data('text')})`,
    {
      pattern: `*${'?'.repeat(9_000)}b*`,
      text: kilobytes(512),
    },
  ),
  condition('a wildcard from the object', `{{ ${data('text')} }}`, 'NotEquals', `{{ ${data('pattern')} }}`, {
    pattern: `*${'?'.repeat(40_000)}b*`,
    text: kilobytes(80),
  }),
  condition(
    'two long lists compared both ways',
    `{{ split(${data('text')}, ',') }}`,
    'AnyIn',
    `{{ split(replace_all(${data('text')}, 'w', 'v'), ',') }}`,
    { text: words(5_000).join('*,') },
  ),
  condition(
    'a range of alternatives from the object',
    `{{ split(${data('text')}, ',') }}`,
    'AllNotIn',
    `{{ split(${data('pattern')}, '|') }}`,
    { text: words(4_000).join(','), pattern: '*?b*|'.repeat(4_000) },
  ),
  annotate('a megabyte of YAML', `length(parse_yaml(${data('text')}))`, { text: kilobytes(512, '- a: b\n') }),
  annotate('YAML with aliases', `length(parse_yaml(${data('text')}))`, {
    text: `${words(2_000)
      .map((word) => `${word}: &${word} [1, 2]`)
      .join('\n')}\n${words(2_000)
      .map((word) => `${word}x: *${word}`)
      .join('\n')}`,
  }),
  annotate('JSON that is nested too deeply', `length(parse_json(${data('text')}))`, {
    text: '['.repeat(500_000),
  }),
  annotate(
    'JSON that is much larger as a value',
    `length(map(&parse_json('{{ ${data('text')} }}'), ${hundred}))`,
    {
      text: `[${'{},'.repeat(100_000)}{}]`,
    },
  ),
  annotate('pairs of pairs', `length(to_string(\`[1]\`${" | items({a: @, b: @}, 'k', 'v')".repeat(30)}))`),
  annotate(
    'objects from long lists',
    `length(map(&object_from_lists(split('{{ ${data('text')} }}', ','), \`[]\`), ${hundred}))`,
    { text: words(30_000).join(',') },
  ),
  annotate(
    'objects merged again and again',
    `length(map(&merge(@, parse_json('{{ ${data('text')} }}')), map(&{a: @}, ${hundred})))`,
    { text: JSON.stringify(Object.fromEntries(words(20_000).map((word) => [word, 1]))) },
  ),
  annotate('long texts sorted', `length(map(&sort(split('{{ ${data('text')} }}', ',')), ${hundred}))`, {
    text: words(500)
      .map((word) => kilobytes(4) + word)
      .join(','),
  }),
  annotate(
    'lists sorted by sorted lists',
    `length(sort_by(${hundred}, &length(sort_by(split('{{ ${data('text')} }}', ','), &length(@)))))`,
    { text: words(5_000).join(',') },
  ),
  annotate(
    'a time with a long layout',
    `length(map(&time_parse('{{ ${data('text')} }}', '{{ ${data('text')} }}'), ${hundred}) || \`[]\`)`,
    { text: kilobytes(128, '15:04 Jan ') },
  ),
  annotate(
    'a long version range',
    `length(map(&semver_compare('1.0.0', '{{ ${data('text')} }}'), ${hundred}))`,
    { text: '>=1.0.0 '.repeat(60_000) },
  ),
  {
    name: 'variables that double',
    data: { v0: kilobytes(1) },
    rule: {
      context: Array.from({ length: 30 }, (_, index) => ({
        name: `v${index + 1}`,
        variable: {
          value: index === 0 ? `{{ ${data('v0')} }}{{ ${data('v0')} }}` : `{{ v${index} }}{{ v${index} }}`,
        },
      })),
      mutate: { patchStrategicMerge: { metadata: { annotations: { x: '{{ length(v30) }}' } } } },
    },
  },
  {
    name: 'one string of many long values',
    data: { text: kilobytes(512) },
    rule: {
      mutate: {
        patchStrategicMerge: {
          metadata: { annotations: { x: `{{ ${data('text')} }}`.repeat(2_000) } },
        },
      },
    },
  },
  annotate(
    'a long expression for each item',
    `length(map(&(${Array.from({ length: 4_000 }, () => 'a').join(' || ')}), split(${data('text')}, ',')))`,
    { text: words(30_000).join(',') },
  ),
  {
    name: 'many operations of one JSON patch',
    data: {},
    fields: { spec: { list: Array.from({ length: 50_000 }, (_, index) => index) } },
    rule: { mutate: { patchesJson6902: JSON.stringify(manyOperations) } },
  },
  {
    name: 'a JSON patch that copies the object into itself',
    data: { a: 'b' },
    rule: {
      mutate: {
        patchesJson6902: JSON.stringify(
          Array.from({ length: 60 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/k${index}` })),
        ),
      },
    },
  },
  {
    name: 'an overlay of v1alpha1 tried on a long list',
    apiVersion: 'kyverno.io/v1alpha1',
    data: {},
    fields: { kind: 'Pod', spec: { containers: words(1_500).map((name) => ({ name })) } },
    rule: {
      mutate: {
        overlay: {
          spec: { containers: words(1_500).map((name) => ({ '(name)': `*${name}?x*`, tty: true })) },
        },
      },
    },
  },
  {
    name: 'replacements in all items of a long list',
    data: {},
    fields: { kind: 'Pod', spec: { containers: words(1_500).map((name) => ({ name, image: 'nginx' })) } },
    rule: {
      mutate: {
        replacements: Array.from({ length: 300 }, () => ({
          source: { kind: 'Pod', fieldPath: 'metadata.name' },
          targets: [
            {
              select: { kind: 'Pod' },
              fieldPaths: ['spec.containers.*.image', 'spec.containers.[name=w1].image'],
            },
          ],
        })),
      },
    },
  },
];

/** The policy of a bomb; it matches only the object of that bomb. */
export function policyOf(
  { rule, apiVersion }: Bomb,
  index: number,
  scope: Readonly<JsonObject> = {},
): JsonObject {
  const alpha = apiVersion === 'kyverno.io/v1alpha1';
  const resources = { kinds: ['ConfigMap', 'Pod'], name: `bomb-${index}` };
  return {
    apiVersion: apiVersion ?? 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: `bomb-${index}`, ...scope },
    spec: {
      rules: [
        {
          name: 'bomb',
          ...(alpha
            ? { resource: { kinds: resources.kinds, name: resources.name } }
            : { match: { any: [{ resources: { kinds: resources.kinds, names: [resources.name] } }] } }),
          ...rule,
        },
      ],
    },
  };
}

export function objectOf(bomb: Bomb, index: number): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `bomb-${index}`, namespace: 'default' },
    data: bomb.data,
    ...bomb.fields,
  };
}
