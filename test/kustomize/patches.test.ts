import { describe, expect, it } from 'vitest';
import { build, configMap, deployment, failureOf, objectsOf, yaml } from './build-fixture.ts';

const deployments = yaml(
  deployment('app1', undefined, { labels: { env: 'dev' } }),
  deployment('app1-web', undefined, { labels: { env: 'dev' }, annotations: { note: 'a/b, c' } }),
  deployment('other', undefined, { labels: { env: 'prod' } }),
);
const scale = yaml([{ op: 'replace', path: '/spec/replicas', value: 9 }]);
const merge = (spec: object) =>
  yaml({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec });

/** Names of the deployments that a patch with this target scaled. */
async function scaled(target: object, resources = deployments): Promise<readonly string[]> {
  const objects = await objectsOf({
    files: {
      'kustomization.yaml': yaml({ resources: ['r.yaml'], patches: [{ patch: scale, target }] }),
      'r.yaml': resources,
    },
  });
  return objects
    .filter((object) => (object['spec'] as { replicas?: number } | undefined)?.replicas === 9)
    .map((object) => String((object['metadata'] as { name: string }).name));
}

describe('targets', () => {
  it.each([
    ['P-20', { kind: 'Deployment' }, ['app1', 'app1-web', 'other']],
    ['P-20', { kind: 'Deploy' }, []],
    ['P-20', { kind: 'Deploy.*', name: 'app1|other' }, ['app1', 'other']],
    ['P-20', { group: 'apps', version: 'v1', name: '^app1.*$' }, ['app1', 'app1-web']],
    ['P-21', {}, ['app1', 'app1-web', 'other']],
    ['P-22', { name: 'none' }, []],
    ['P-24', { namespace: 'default' }, ['app1', 'app1-web', 'other']],
    ['P-25', { labelSelector: 'env=dev' }, ['app1', 'app1-web']],
    ['P-25', { labelSelector: 'env==prod' }, ['other']],
    ['P-25', { labelSelector: 'env!=dev, env' }, ['other']],
    ['P-25', { labelSelector: 'env in (dev, prod), !x' }, ['app1', 'app1-web', 'other']],
    ['P-25', { labelSelector: 'env notin (dev)' }, ['other']],
    ['P-25', { labelSelector: 'x notin (dev), x!=y' }, ['app1', 'app1-web', 'other']],
    ['P-25', { annotationSelector: 'note' }, ['app1-web']],
    ['P-25', { annotationSelector: '!note' }, ['app1', 'other']],
    [
      'P-05',
      { kind: 'Deployment', name: 'app1.*', labelSelector: 'env=dev', annotationSelector: 'note' },
      ['app1-web'],
    ],
    ['P-05', { name: 'other', labelSelector: 'env=dev' }, []],
    ['P-02 N-03', { labelSelector: { env: 'dev' } }, ['app1', 'app1-web']],
    ['P-02 N-03', { matchAnnotations: { note: 'a/b, c' } }, ['app1-web']],
    ['P-02 N-03', { Kind: 'Deployment', Name: 'app1-.*', labelSelector: { env: 'dev' } }, ['app1-web']],
  ])('%s: %j selects %j', async (_id, target, names) => {
    expect(await scaled(target)).toEqual(names);
  });

  it.each([
    ['P-25', { labelSelector: 'env in (a' }, /unable to parse requirement/],
    ['P-25', { labelSelector: 'env=a b' }, /expected: ',' or 'end of string'/],
    ['P-25', { labelSelector: ',a' }, /unable to parse requirement/],
    ['P-26', { annotationSelector: 'note=a/b' }, /'a\/b' is not a valid label value/],
    ['P-26', { labelSelector: `env=${'x'.repeat(64)}` }, /not a valid label value/],
    ['P-20', { name: 'a(' }, /error parsing regexp/],
  ])('%s: %j is refused', async (_id, target, message) => {
    const files = {
      'kustomization.yaml': yaml({ resources: ['r.yaml'], patches: [{ patch: scale, target }] }),
      'r.yaml': deployments,
    };
    const failure = await failureOf({ files });
    expect(failure).toMatch(message);
    expect(failure).toContain('patches[0].target.');
  });

  it('P-06 N-04: a wildcard that selects nothing as a regular expression is read as one, with a note', async () => {
    const noApp1 = yaml(deployment('app1-web'), deployment('app1-api'), deployment('other'));
    expect(await scaled({ name: 'app1-*' }, noApp1)).toEqual(['app1-api', 'app1-web']);
    const files = {
      'kustomization.yaml': yaml({
        resources: ['r.yaml'],
        patches: [{ patch: scale, target: { name: 'app1-*' } }],
      }),
      'r.yaml': noApp1,
    };
    expect((await build({ files })).stderr).toMatch(/'app1-\*' .* is read as a wildcard; write 'app1-\.\*'/);
    // As a regular expression it selects this one, so that is what it is.
    expect(await scaled({ name: 'app1-*' })).toEqual(['app1']);
    expect(await scaled({ name: '*-web' })).toEqual(['app1-web']);
  });

  it('P-23 P-40: the first and the present name select, and the prefix of the same kustomization is not yet there', async () => {
    const overlay = (name: string) => ({
      'kustomization.yaml': yaml({
        resources: ['base'],
        namePrefix: 'top-',
        patches: [{ patch: scale, target: { name } }],
      }),
      'base/kustomization.yaml': yaml({ resources: ['middle'], nameSuffix: '-s' }),
      'base/middle/kustomization.yaml': yaml({ resources: ['r.yaml'], namePrefix: 'p-' }),
      'base/middle/r.yaml': yaml(deployment('a')),
    });
    const replicas = async (name: string) => (await objectsOf({ files: overlay(name) }))[0]?.['spec'];
    expect(await replicas('a')).toEqual({ replicas: 9 });
    expect(await replicas('p-a-s')).toEqual({ replicas: 9 });
    expect(await replicas('p-a')).toEqual({ replicas: 1 });
    expect(await replicas('top-p-a-s')).toEqual({ replicas: 1 });
  });
});

describe('entries', () => {
  const entry = (patch: object, resources = deployments, files: Readonly<Record<string, string>> = {}) => ({
    files: {
      'kustomization.yaml': yaml({ resources: ['r.yaml'], patches: [patch] }),
      'r.yaml': resources,
      ...files,
    },
  });

  it('P-01 N-03: file is path, and an explicit type is honoured', async () => {
    const target = { name: 'other' };
    for (const [type, text] of [
      ['JsonPatch', scale],
      ['StrategicMergePatch', merge({ replicas: 9 })],
    ] as const) {
      const objects = await objectsOf(
        entry({ file: 'p.yaml', type, target }, deployments, { 'p.yaml': text }),
      );
      expect(objects).toContainEqual(deployment('other', { replicas: 9 }, { labels: { env: 'prod' } }));
    }
    const wrong = entry({ file: 'p.yaml', type: 'JsonPatch', target }, deployments, { 'p.yaml': merge({}) });
    expect(await failureOf(wrong)).toMatch(/p\.yaml.*not a JsonPatch/);
    expect(await failureOf(entry({ patch: scale, type: 'Overlay', target }))).toMatch(
      /unknown patch type 'Overlay'/,
    );
  });

  it('P-08: the older fields still work, with a word on standard error', async () => {
    const files = {
      'kustomization.yaml': yaml({
        resources: ['r.yaml'],
        patchesJson6902: [{ target: { kind: 'Deployment', name: 'other' }, path: 'p.yaml' }],
        patchesStrategicMerge: ['m.yaml'],
      }),
      'r.yaml': deployments,
      'p.yaml': scale,
      'm.yaml': yaml({ ...deployment('app1'), spec: { paused: true } }),
    };
    const { exitCode, stderr, objects } = await build({ files });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/patchesStrategicMerge.*deprecated/);
    expect(stderr).toMatch(/patchesJson6902.*deprecated/);
    expect(objects[2]?.['spec']).toEqual({ replicas: 9 });
    expect(objects[0]?.['spec']).toEqual({ replicas: 1, paused: true });
  });

  it('P-28: a JSON patch needs a target', async () => {
    expect(await failureOf(entry({ patch: scale }))).toMatch(/patches\[0\]\.target.*needs a target/);
  });

  it('P-35: a JSON patch may rename, and references follow', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
    };
    const rename = yaml([{ op: 'replace', path: '/metadata/name', value: 'renamed' }]);
    const objects = await objectsOf(
      entry({ patch: rename, target: { kind: 'ConfigMap' } }, yaml(configMap('c'), pod)),
    );
    expect(objects).toEqual([
      configMap('renamed'),
      { ...pod, spec: { volumes: [{ name: 'v', configMap: { name: 'renamed' } }] } },
    ]);
  });

  it('P-38: a custom resource is merged plainly', async () => {
    const foo = (spec: object) => ({
      apiVersion: 'example.com/v1',
      kind: 'Foo',
      metadata: { name: 'f' },
      spec,
    });
    const patch = yaml(foo({ containers: [{ name: 'b' }], m: { y: 2 } }));
    const objects = await objectsOf(
      entry({ patch }, yaml(foo({ containers: [{ name: 'a' }], m: { x: 1 } }))),
    );
    expect(objects).toEqual([foo({ containers: [{ name: 'b' }], m: { x: 1, y: 2 } })]);
  });

  it('P-22: a strategic merge patch without a target has to find its resource', async () => {
    expect(await failureOf(entry({ patch: merge({ replicas: 2 }) }))).toMatch(
      /no resource matches .*Deployment .*"x"/,
    );
  });

  it('deletes labels and annotations that a patch with a target sets to null', async () => {
    const patch = yaml({
      kind: 'x',
      metadata: { name: 'x', labels: { env: null }, annotations: { note: null } },
    });
    const objects = await objectsOf(entry({ patch, target: { name: 'app1-web' } }));
    expect(objects[1]?.['metadata']).toEqual({ name: 'app1-web', labels: {} });
  });

  it('a JSON patch can add an annotation where there are none', async () => {
    const patch = yaml([{ op: 'add', path: '/metadata/annotations/a~1b', value: 'c' }]);
    const objects = await objectsOf(entry({ patch, target: { name: 'other' } }));
    expect(objects[2]?.['metadata']).toMatchObject({ annotations: { 'a/b': 'c' } });
  });
});

describe('what a patch does', () => {
  const patched = async (object: object, patch: object) =>
    (
      await objectsOf({
        files: {
          'kustomization.yaml': yaml({ resources: ['r.yaml'], patches: [{ path: 'p.yaml', target: {} }] }),
          'r.yaml': yaml(object),
          'p.yaml': yaml(patch),
        },
      })
    )[0];

  it('M-04: a list of scalars that is merged has the new ones first, each once', async () => {
    const object = configMap('c', {}, { finalizers: ['a', 'b', 'a'] });
    expect(await patched(object, configMap('c', {}, { finalizers: ['n', 'b'] }))).toEqual(
      configMap('c', {}, { finalizers: ['n', 'b', 'a'] }),
    );
  });

  it.each([
    [{ op: 'remove', path: '/data/none' }, /the member "none" to remove does not exist/],
    [{ op: 'add', path: '/none/x', value: 1 }, /\/none does not exist/],
    [{ op: 'replace', path: '/list/5', value: 1 }, /index 5 is outside the list/],
    [{ op: 'add', path: '/list/x', value: 1 }, /'x' is not a list index/],
    [{ op: 'test', path: '/data/k', value: 'w' }, /differs from the value of the test/],
    [{ op: 'merge', path: '/data/k' }, /unknown op: "merge"/],
    [{ op: 'add', path: 'data/k', value: 1 }, /does not start with a slash/],
    [{ op: 'copy', path: '/data/x' }, /copy has no from/],
  ])('J-04: %j is an error that names the operation', async (operation, message) => {
    const files = {
      'kustomization.yaml': yaml({ resources: ['r.yaml'], patches: [{ path: 'p.yaml', target: {} }] }),
      'r.yaml': yaml(configMap('c', { data: { k: 'v' }, list: [1] })),
      'p.yaml': yaml([operation]),
    };
    const failure = await failureOf({ files });
    expect(failure).toMatch(message);
    expect(failure).toContain('p.yaml');
  });

  it('the origin of a resource is kept when all annotations are replaced', async () => {
    const files = {
      'kustomization.yaml': yaml({
        resources: ['r.yaml'],
        buildMetadata: ['originAnnotations'],
        patches: [{ path: 'p.yaml', target: {} }],
      }),
      'r.yaml': yaml(configMap('c', {}, { annotations: { a: 'b' } })),
      'p.yaml': yaml([{ op: 'replace', path: '/metadata/annotations', value: { only: '1' } }]),
    };
    expect(await objectsOf({ files })).toMatchObject([
      { metadata: { annotations: { only: '1', 'config.kubernetes.io/origin': 'path: r.yaml\n' } } },
    ]);
  });
});
