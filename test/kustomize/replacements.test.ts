import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/value.ts';
import { build, configMap, deployment, failureOf, objectsOf, yaml } from './build-fixture.ts';

const source = configMap('source', {
  data: { text: 'new', path: 'x/y/z', number: '8080' },
  list: [{ name: 'a.b' }, { name: 'axb' }],
});
const from = (fieldPath: string, options?: object) => ({
  source: { kind: 'ConfigMap', name: 'source', fieldPath, ...(options && { options }) },
});

const files = (replacements: readonly object[], resources: readonly object[], more: object = {}) => ({
  'kustomization.yaml': yaml({
    resources: ['r.yaml'],
    replacements,
    ...more,
    sortOptions: { order: 'fifo' },
  }),
  'r.yaml': yaml(source, ...resources),
});

/** The data of the ConfigMap `target` after a replacement into it. */
async function replaced(
  data: object,
  target: object,
  given: object = from('data.text'),
): Promise<Json | undefined> {
  const objects = await objectsOf({
    files: files(
      [{ ...given, targets: [{ select: { name: 'target' }, ...target }] }],
      [configMap('target', { data })],
    ),
  });
  return objects[1]?.['data'];
}

describe('shape', () => {
  it('R-02: a file holds one replacement or a list of them, in place', async () => {
    const one = (value: string) => ({
      sourceValue: value,
      targets: [
        { select: { name: 'target' }, fieldPaths: ['data.k'], options: { delimiter: '-', index: 9 } },
      ],
    });
    const objects = await objectsOf({
      files: {
        ...files(
          [one('1'), { path: 'list.yaml' }, { path: 'map.yaml' }, one('5')],
          [configMap('target', { data: { k: '0' } })],
        ),
        'list.yaml': yaml([one('2'), one('3')]),
        'map.yaml': yaml(one('4')),
      },
    });
    expect(objects[1]?.['data']).toEqual({ k: '0-1-2-3-4-5' });
  });

  it('R-07: every key of the schema is known', async () => {
    const id = { group: '', version: 'v1', kind: 'ConfigMap', name: 'source', namespace: 'default' };
    const options = { delimiter: '', index: 0, create: false };
    const { name: _, namespace: __, ...gvk } = id;
    const entry = {
      source: { ...id, fieldPath: 'data.text', options },
      targets: [
        {
          select: { ...gvk, name: 'target' },
          reject: [{ ...id, name: 'none' }],
          fieldPaths: ['data.k'],
          options,
        },
      ],
    };
    const objects = await objectsOf({ files: files([entry], [configMap('target', { data: { k: 'old' } })]) });
    expect(objects[1]?.['data']).toEqual({ k: 'new' });
  });

  it('R-12: the field is targets, not target', async () => {
    expect(await failureOf({ files: files([{ ...from('data.text'), target: [] }], []) })).toMatch(
      /unknown field "target"/,
    );
  });

  it.each([
    ['one map', { name: 'target' }],
    ['a list of one', [{ name: 'target' }]],
    [
      'a list of several, of which any selects',
      [{ name: 'none' }, { kind: 'ConfigMap', name: 'target' }, { name: 'target' }],
    ],
  ])('R-11 N-01: select is %s', async (_form, select) => {
    expect(
      await replaced({ k: 'a' }, { select, fieldPaths: ['data.k'], options: { delimiter: '-', index: 9 } }),
    ).toEqual({ k: 'a-new' });
  });

  it('R-114: the built-in transformer does the same', async () => {
    const transformer = {
      apiVersion: 'builtin',
      kind: 'ReplacementTransformer',
      metadata: { name: 'r' },
      replacements: [
        { ...from('data.text'), targets: [{ select: { name: 'target' }, fieldPaths: ['data.k'] }] },
      ],
    };
    const objects = await objectsOf({
      files: {
        ...files([], [configMap('target', { data: { k: 'old' } })], { transformers: ['t.yaml'] }),
        't.yaml': yaml(transformer),
      },
    });
    expect(objects[1]?.['data']).toEqual({ k: 'new' });
  });
});

describe('selection', () => {
  const targets = [
    deployment('a', { v: 'old' }, { labels: { tier: 'web' } }),
    deployment('b', { v: 'old' }, { labels: { tier: 'db' } }),
    { ...deployment('a', { v: 'old' }), kind: 'StatefulSet' },
  ];
  const written = async (target: object, more: object = {}) => {
    const entry = { sourceValue: 'new', targets: [{ fieldPaths: ['spec.v'], ...target }] };
    const objects = await objectsOf({ files: files([entry], targets, more) });
    return objects
      .filter((object) => (object['spec'] as { v?: string } | undefined)?.v === 'new')
      .map((object) => `${object['kind']} ${(object['metadata'] as { name: string }).name}`);
  };

  it.each([
    ['R-40', { select: { name: 'a' }, reject: [{ kind: 'StatefulSet' }] }, ['Deployment a']],
    ['R-42', { select: { name: 'none' }, fieldPaths: ['no.such.[x=y].place'] }, []],
    ['R-50', { select: { name: 'a' }, reject: [{}] }, ['Deployment a', 'StatefulSet a']],
    [
      'R-49 N-02',
      { select: { kind: 'Deployment' }, reject: [{ name: 'a', labelSelector: 'tier=db' }] },
      ['Deployment a', 'Deployment b'],
    ],
    [
      'R-49 N-02',
      { select: { kind: 'Deployment' }, reject: [{ name: 'a', labelSelector: 'tier=web' }] },
      ['Deployment b'],
    ],
    ['R-43', { select: { name: '[ab]', kind: 'Deploy.*' } }, ['Deployment a', 'Deployment b']],
  ])('%s: %j', async (_id, target, names) => {
    expect(await written(target)).toEqual(names);
  });

  it('R-45: kind and name have to fit one and the same id', async () => {
    const rename = {
      patch: yaml({ kind: 'Job', metadata: { name: 'c' } }),
      target: { kind: 'Deployment', name: 'a' },
      options: { allowNameChange: true, allowKindChange: true },
    };
    const more = { patches: [rename] };
    expect(await written({ select: { kind: 'Job', name: 'a' } }, more)).toEqual([]);
    expect(await written({ select: { kind: 'Deployment', name: 'a' } }, more)).toEqual(['Job c']);
    expect(await written({ select: { kind: 'Job', name: 'c' } }, more)).toEqual(['Job c']);
  });

  it('R-30: a source reads [key=value] literally, where a target reads an expression', async () => {
    const given = { source: { kind: 'ConfigMap', name: 'source', fieldPath: 'list.[name=a.b].name' } };
    expect(await replaced({ k: '' }, { fieldPaths: ['data.k'] }, given)).toEqual({ k: 'a.b' });
    const message = await failureOf({
      files: files(
        [
          {
            source: { name: 'source', fieldPath: 'list.[name=a.].name' },
            targets: [{ select: { name: 'x' } }],
          },
        ],
        [],
      ),
    });
    expect(message).toMatch(/'list\.\[name=a\.\]\.name'/);
  });
});

describe('options and values', () => {
  const old = { k: 'a/b/c' };
  it.each([
    [
      'R-81: index is 0 by default',
      { fieldPaths: ['data.k'], options: { delimiter: '/' } },
      { k: 'new/b/c' },
    ],
    [
      'R-82: index without delimiter does nothing',
      { fieldPaths: ['data.k'], options: { index: 2 } },
      { k: 'new' },
    ],
    [
      'R-82: an empty delimiter is none',
      { fieldPaths: ['data.k'], options: { delimiter: '', index: 2 } },
      { k: 'new' },
    ],
    [
      'R-88: a path listed twice is written twice',
      { fieldPaths: ['data.k', 'data.k'], options: { delimiter: '/', index: 9 } },
      { k: 'a/b/c/new/new' },
    ],
  ])('%s', async (_title, target, data) => {
    expect(await replaced(old, target)).toEqual(data);
  });

  it('R-65: [=text] names the scalars of a list, by an expression', async () => {
    const objects = await objectsOf({
      files: files(
        [{ ...from('data.text'), targets: [{ select: { name: 'target' }, fieldPaths: ['args.[=^-a]'] }] }],
        [configMap('target', { args: ['-a', 'b', '-ab'] })],
      ),
    });
    expect(objects[1]?.['args']).toEqual(['new', 'b', 'new']);
  });

  it('R-105: comments do not survive, and quotes are normal ones', async () => {
    const { stdout } = await build({
      files: {
        'kustomization.yaml': yaml({ resources: ['r.yaml'] }),
        'r.yaml': `# top\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 'c' # name\ndata:\n  "k": 'v'\n`,
      },
    });
    expect(stdout).toBe('apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  name: c\n');
  });

  it('R-112: a replacement of a base is done before the overlay changes names', async () => {
    const objects = await objectsOf({
      files: {
        'kustomization.yaml': yaml({
          resources: ['base'],
          namePrefix: 'top-',
          sortOptions: { order: 'fifo' },
        }),
        'base/kustomization.yaml': yaml({
          resources: ['r.yaml'],
          replacements: [
            { source: { name: 'source' }, targets: [{ select: { name: 'target' }, fieldPaths: ['data.k'] }] },
          ],
        }),
        'base/r.yaml': yaml(source, configMap('target', { data: { k: '' } })),
      },
    });
    expect(objects[1]).toEqual(configMap('top-target', { data: { k: 'source' } }));
  });

  it('a replacement may not leave two resources with one id, nor one without a name', async () => {
    const to = (given: object) => ({
      files: files([{ ...given, targets: [{ select: { kind: 'ConfigMap' } }] }], [configMap('target')]),
    });
    expect(await failureOf(to({ sourceValue: 'same' }))).toContain('KYM_KUSTOMIZE_DUPLICATE');
    expect(await failureOf(to({ sourceValue: '' }))).toMatch(
      /KYM_KUSTOMIZE_DUPLICATE|without metadata\.name/,
    );
  });
});
