import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { kinds, policy, rule } from './policy.testing.ts';
import { mayBeReinvoked } from './reinvocation.ts';

function withMutate(mutate: JsonObject, more: JsonObject = {}) {
  return policy('p', [rule(kinds('Pod'), { mutate, ...more })]);
}

const operations = (...lines: readonly string[]) => ({
  patchesJson6902: lines.map((line) => `- ${line}`).join('\n'),
});

describe('a policy is called once only when it', () => {
  it.each([
    ['adds at an index', operations('{op: add, path: /spec/containers/0, value: {name: x}}')],
    ['adds at the end', operations('{op: add, path: /spec/tolerations/-, value: {key: x}}')],
    ['adds at -1', operations('{op: add, path: /spec/tolerations/-1, value: {key: x}}')],
    ['removes at a constant index', operations('{op: remove, path: /spec/tolerations/0}')],
    ['copies into a list', operations('{op: copy, from: /spec/a, path: /spec/list/-}')],
    [
      'adds to a list in a loop',
      {
        foreach: [
          {
            list: 'request.object.spec.containers',
            ...operations('{op: add, path: "/spec/containers/{{elementIndex}}/env/-", value: {name: x}}'),
          },
        ],
      },
    ],
    [
      'adds at the index of a loop',
      {
        foreach: [
          {
            list: 'request.object.spec.containers',
            ...operations('{op: add, path: "/spec/containers/{{elementIndex}}", value: {name: x}}'),
          },
        ],
      },
    ],
    [
      'moves an item found in the object',
      {
        foreach: [
          {
            list: 'request.object.spec.volumes',
            ...operations('{op: move, from: "/spec/volumes/{{elementIndex}}", path: /spec/volumes/0}'),
          },
        ],
      },
    ],
    [
      'removes at the index of a loop over a constant list',
      {
        foreach: [
          { list: '[`1`,`2`]', ...operations('{op: remove, path: "/spec/volumes/{{elementIndex}}"}') },
        ],
      },
    ],
    [
      'removes at an index from elsewhere',
      {
        foreach: [
          { list: '[`1`]', ...operations('{op: remove, path: "/spec/volumes/{{ settings.data.index }}"}') },
        ],
      },
      { context: [{ name: 'settings', configMap: { name: 'settings', namespace: 'default' } }] },
    ],
    [
      'removes at a constant index of a found item',
      {
        foreach: [
          {
            list: 'request.object.spec.containers',
            ...operations('{op: remove, path: "/spec/containers/{{elementIndex}}/env/0"}'),
          },
        ],
      },
    ],
    ['draws by lot', { patchStrategicMerge: { metadata: { labels: { a: "{{ random('[a-z]{5}') }}" } } } }],
    [
      'writes the time',
      { patchStrategicMerge: { metadata: { annotations: { a: '{{ time_now_utc() }}' } } } },
    ],
  ] as readonly [string, JsonObject, JsonObject?][])('%s', (_, mutate, more) => {
    expect(mayBeReinvoked(withMutate(mutate, more))).toBe(false);
  });

  it('is annotated so', () => {
    const annotated = policy('p', [rule(kinds('Pod'))], {
      annotations: { 'kymera.io/reinvocation': 'never' },
    });
    expect(mayBeReinvoked(annotated)).toBe(false);
  });

  it('reads the time in a context entry', () => {
    const context = [{ name: 'now', variable: { jmesPath: 'time_now()' } }];
    expect(
      mayBeReinvoked(
        withMutate({ patchStrategicMerge: { metadata: { labels: { a: '{{ now }}' } } } }, { context }),
      ),
    ).toBe(false);
  });
});

describe('a policy may be called again when it', () => {
  it.each([
    ['merges', { patchStrategicMerge: { metadata: { labels: { a: 'b' } } } }],
    ['adds a member', operations('{op: add, path: /metadata/labels/a, value: b}')],
    ['replaces at an index', operations('{op: replace, path: /spec/containers/0/image, value: x}')],
    ['adds a member of an item', operations('{op: add, path: /spec/containers/0/image, value: x}')],
    [
      'computes with times of the object',
      { patchStrategicMerge: { metadata: { labels: { a: "{{ time_add('2023-01-01T00:00:00Z','1h') }}" } } } },
    ],
    [
      'removes at the index of a loop over the object',
      {
        foreach: [
          {
            list: 'request.object.spec.volumes[]',
            order: 'Descending',
            ...operations('{op: remove, path: "/spec/volumes/{{elementIndex}}"}'),
          },
        ],
      },
    ],
    [
      'removes at the indexes of nested loops',
      {
        foreach: [
          {
            list: 'request.object.spec.containers[]',
            foreach: [
              {
                list: 'element.volumeMounts',
                ...operations(
                  '{op: remove, path: "/spec/containers/{{elementIndex0}}/volumeMounts/{{elementIndex1}}"}',
                ),
              },
            ],
          },
        ],
      },
    ],
    [
      'removes at an index that a context entry finds in the object',
      { foreach: [{ list: '[`1`]', ...operations('{op: remove, path: "/spec/volumes/{{ last }}"}') }] },
      {
        context: [
          { name: 'names', variable: { jmesPath: 'request.object.spec.volumes[].name' } },
          { name: 'last', variable: { jmesPath: 'subtract(length(names), `1`)' } },
        ],
      },
    ],
  ] as readonly [string, JsonObject, JsonObject?][])('%s', (_, mutate, more) => {
    expect(mayBeReinvoked(withMutate(mutate, more))).toBe(true);
  });

  it('is annotated so', () => {
    const add = operations('{op: add, path: /spec/tolerations/-, value: {key: x}}');
    const annotations = { 'kymera.io/reinvocation': 'if-needed' };
    expect(mayBeReinvoked(policy('p', [rule(kinds('Pod'), { mutate: add })], { annotations }))).toBe(true);
  });
});
