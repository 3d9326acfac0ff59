import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { kymera } from './in-process.testing.ts';

const casesFile = fileURLToPath(new URL('../conformance/cases/seeds-003.yaml', import.meta.url));
const { cases } = parse(readFileSync(casesFile, 'utf8')) as { cases: { id: string; policy: string }[] };

/** A documented policy as it is written. */
function documented(line: number): string {
  const policy = cases.find(({ id }) => id === `seed-reads-line-${line}`)?.policy;
  if (policy === undefined) throw new Error(`no policy of line ${line}`);
  return policy;
}

interface Planned {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly action: string;
  readonly object?: Record<string, unknown>;
}

type Objects = readonly Record<string, unknown>[];

async function plan(policy: string, objects: Objects, ...options: string[]): Promise<readonly Planned[]> {
  const files = {
    'policy.yaml': policy,
    'objects/all.yaml': objects.map((object) => JSON.stringify(object)).join('\n---\n'),
  };
  const { exitCode, stdout, stderr } = await kymera(
    ['existing', 'plan', 'policy.yaml', '-r', 'objects', '-o', 'json', ...options],
    { files },
  );
  expect({ exitCode, failures: stderr.split('\n').filter((line) => line.startsWith('failed')) }).toEqual({
    exitCode: 0,
    failures: [],
  });
  return JSON.parse(stdout) as Planned[];
}

const titles = (changes: readonly Planned[]) =>
  changes.map(
    ({ action, kind, namespace, name }) =>
      `${action} ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`,
  );

const object = (kind: string, title: string, more: Record<string, unknown> = {}, apiVersion = 'v1') => {
  const slash = title.indexOf('/');
  const { labels, ...content } = more;
  return {
    apiVersion,
    kind,
    metadata: {
      name: title.slice(slash + 1),
      ...(slash < 0 ? {} : { namespace: title.slice(0, slash) }),
      ...(labels === undefined ? {} : { labels }),
    },
    ...content,
  };
};

describe('a Secret that is labelled when a ConfigMap changes', () => {
  const objects = [
    object('ConfigMap', 'staging/dictionary-1'),
    object('ConfigMap', 'staging/dictionary-2'),
    object('Secret', 'staging/secret-1'),
    object('Secret', 'default/secret-1'),
  ];

  it('is labelled when the trigger is created or updated, and in the regular look', async () => {
    for (const options of [['--operation', 'CREATE'], ['--operation', 'UPDATE'], []]) {
      const changes = await plan(documented(439), objects, ...options);
      expect(titles(changes)).toEqual(['update Secret staging/secret-1']);
      expect(changes[0]?.object).toMatchObject({ metadata: { labels: { foo: 'bar' } } });
    }
  });

  it('not when another object changes, nor when the policy is installed', async () => {
    expect(
      await plan(documented(439), objects, '--operation', 'UPDATE', '--trigger', 'dictionary-2'),
    ).toEqual([]);
    expect(await plan(documented(439), objects, '--on-policy-update')).toEqual([]);
  });

  it('also when the policy changes, where the rule says so', async () => {
    const policy = documented(439).replace(
      'mutate:\n',
      'mutate:\n        mutateExistingOnPolicyUpdate: true\n',
    );
    expect(titles(await plan(policy, objects, '--on-policy-update'))).toEqual([
      'update Secret staging/secret-1',
    ]);
  });

  it('a rule that says so needs targets', async () => {
    const policy = documented(471).replace(
      /targets:[\s\S]*$/,
      'patchStrategicMerge: {metadata: {labels: {foo: bar}}}\n',
    );
    const { exitCode, stdout, stderr } = await kymera(['validate', 'p.yaml'], {
      files: { 'p.yaml': policy },
    });
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain('KYM_TARGETS_MISSING');
  });
});

it('targets are selected by their labels', async () => {
  const objects = [
    object('Secret', 'a/trigger'),
    object('ConfigMap', 'a/one', { labels: { 'should-match': 'yes' } }),
    object('ConfigMap', 'b/two', { labels: { 'should-match': 'yes' } }),
    object('ConfigMap', 'a/other', { labels: { 'should-match': 'no' } }),
    object('ConfigMap', 'a/none'),
  ];
  expect(titles(await plan(documented(507), objects))).toEqual([
    'update ConfigMap a/one',
    'update ConfigMap b/two',
  ]);
});

it('Deployments that use a Secret are restarted when it is updated, if their name begins right', async () => {
  const deployment = (title: string, secret: string) =>
    object(
      'Deployment',
      title,
      {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'app',
                  image: 'app:1',
                  env: [{ name: 'A', valueFrom: { secretKeyRef: { name: secret, key: 'a' } } }],
                },
              ],
            },
          },
        },
      },
      'apps/v1',
    );
  const objects = [
    object('Secret', 'web/credentials', { labels: { 'kyverno.io/watch': 'true' } }),
    object('Secret', 'web/other'),
    deployment('web/testing-a', 'credentials'),
    deployment('web/testing-b', 'other'),
    deployment('web/other', 'credentials'),
    deployment('elsewhere/testing-a', 'credentials'),
  ];
  const changes = await plan(documented(537), objects, '--operation', 'UPDATE');
  expect(titles(changes)).toEqual(['update Deployment web/testing-a']);
  expect(changes[0]?.object).toMatchObject({
    spec: {
      template: { metadata: { annotations: { 'corp.org/random': expect.stringMatching(/^[0-9a-z]{8}$/) } } },
    },
  });
  expect(await plan(documented(537), objects, '--operation', 'CREATE')).toEqual([]);
  expect(await plan(documented(537), objects)).toEqual([]);
});

describe('a namespaced Policy', () => {
  const inExample = (line: number) => documented(line).replace(/^(metadata:\n)/m, '$1  namespace: example\n');
  const objects = [
    object('Deployment', 'example/web', {}, 'apps/v1'),
    object('Deployment', 'other/web', {}, 'apps/v1'),
    object('ConfigMap', 'example/example', { labels: { a: 'b' } }),
  ];
  const done = ['update ConfigMap example/example'];

  it('acts on creation and update, not on deletion', async () => {
    expect(titles(await plan(inExample(590), objects, '--operation', 'CREATE'))).toEqual(done);
    expect(titles(await plan(inExample(590), objects, '--operation', 'UPDATE'))).toEqual(done);
    expect(await plan(inExample(590), objects, '--operation', 'DELETE')).toEqual([]);
  });

  it('that lists DELETE alone acts on deletion only', async () => {
    expect(await plan(inExample(618), objects, '--operation', 'CREATE')).toEqual([]);
    expect(await plan(inExample(618), objects)).toEqual([]);
    expect(titles(await plan(inExample(618), objects, '--operation', 'DELETE'))).toEqual(done);
  });

  it('is not moved by triggers of other namespaces', async () => {
    const others = objects.filter(
      ({ metadata }) => metadata.namespace === 'other' || metadata.name === 'example',
    );
    expect(await plan(inExample(590), others, '--operation', 'CREATE')).toEqual([]);
  });
});

describe('variables of the target', () => {
  const objects = [
    object('ConfigMap', 'foo/cmone', { data: { keyone: 'one' } }),
    object('ConfigMap', 'bar/cmtwo', { labels: { a: 'b' }, data: { key: 'two', keynew: 'old2' } }),
    object('ConfigMap', 'bar/cmthree', { labels: { a: 'b' }, data: { key: 'three', keynew: 'old3' } }),
  ];

  it('each target has its own value', async () => {
    const changes = await plan(documented(653), objects, '--operation', 'UPDATE');
    expect(changes.map(({ name, object: after }) => [name, after?.['metadata']])).toMatchObject([
      ['cmtwo', { labels: { env: 'two' } }],
      ['cmthree', { labels: { env: 'three' } }],
    ]);
  });

  it('{{@}} is the value of the target at that path', async () => {
    const changes = await plan(documented(691), objects, '--operation', 'UPDATE');
    expect(changes.map(({ name, object: after }) => [name, after?.['data']])).toMatchObject([
      ['cmtwo', { keynew: 'one-old2' }],
      ['cmthree', { keynew: 'one-old3' }],
    ]);
  });
});

describe('generate, then mutate', () => {
  const source = object('Secret', 'default/regcred', { type: 'Opaque', data: { a: 'YQ==' } });

  it('a Secret is copied into a new Namespace and labelled on its way', async () => {
    const objects = [object('Namespace', 'web'), source];
    const [copy, ...more] = await plan(
      documented(898),
      objects,
      '--operation',
      'CREATE',
      '--trigger',
      'Namespace/web',
    );
    expect(more).toEqual([]);
    expect(copy).toMatchObject({
      action: 'create',
      kind: 'Secret',
      namespace: 'web',
      name: 'regcred',
      object: {
        type: 'Opaque',
        data: { a: 'YQ==' },
        metadata: { labels: { foo: 'bar', 'generate.kyverno.io/policy-name': 'sync-secrets' } },
      },
    });
  });

  it('the copy follows its source, and keeps the label', async () => {
    const objects = [object('Namespace', 'web'), source];
    const [copy] = await plan(
      documented(898),
      objects,
      '--operation',
      'CREATE',
      '--trigger',
      'Namespace/web',
    );
    const changed = [object('Namespace', 'web'), { ...source, data: { a: 'Yg==' } }, copy?.object ?? {}];
    const options = ['--operation', 'UPDATE', '--trigger', 'Namespace/web'];
    const [followed] = await plan(documented(898), changed, ...options);
    expect(followed).toMatchObject({
      action: 'update',
      object: { data: { a: 'Yg==' }, metadata: { labels: { foo: 'bar' } } },
    });
    expect(await plan(documented(898), [...changed.slice(0, 2), followed?.object ?? {}], ...options)).toEqual(
      [],
    );
  });

  it('a ConfigMap is made, its Namespace is marked ready, and there it ends', async () => {
    const objects = [object('Namespace', 'web')];
    const changes = await plan(documented(939), objects, '--operation', 'CREATE');
    expect(titles(changes)).toEqual(['create ConfigMap web/somecustomcm', 'update Namespace web']);
    expect(changes[1]?.object).toMatchObject({ metadata: { labels: { 'custom/namespace-ready': 'true' } } });
    expect(
      await plan(
        documented(939),
        changes.map(({ object: after }) => after ?? {}),
        '--operation',
        'CREATE',
      ),
    ).toEqual([]);
  });

  it('without skipBackgroundRequests: false the second rule is not reached', async () => {
    const policy = documented(939).replace('skipBackgroundRequests: false', 'skipBackgroundRequests: true');
    expect(titles(await plan(policy, [object('Namespace', 'web')], '--operation', 'CREATE'))).toEqual([
      'create ConfigMap web/somecustomcm',
    ]);
  });
});
