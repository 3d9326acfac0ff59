import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stated } from '../../src/cli/build/diff-cluster.ts';
import type { Json } from '../../src/json/value.ts';
import { policy } from '../../src/policy/policy.testing.ts';
import { configMap, deployment, objectsIn, yaml } from '../kustomize/build-fixture.ts';
import { kymera } from './in-process.testing.ts';

const labels = policy({ mutate: 'patchStrategicMerge: {metadata: {labels: {team: shop}}}' });
const failing = policy({
  mutate: 'patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.none }}"}}}',
});
const files = {
  'base/kustomization.yaml': yaml({ resources: ['r.yaml'] }),
  'base/r.yaml': yaml(configMap('c', { data: { k: 'v' } }), deployment('d')),
  'overlay/kustomization.yaml': yaml({ resources: ['../base'], replicas: [{ name: 'd', count: 3 }] }),
  'policies/labels.yaml': labels,
};

describe('kymera build --policies', () => {
  it('applies policies to what was built, and says which rule changed what', async () => {
    const finished = await kymera(['build', 'base', '--policies', 'policies'], { files });
    expect(finished.exitCode).toBe(0);
    expect(objectsIn(finished.stdout)[0]).toEqual(
      configMap('c', { data: { k: 'v' } }, { labels: { team: 'shop' } }),
    );
    expect(finished.stderr).toMatch(/^ConfigMap default\/c: policy \S+, rule \S+: add \/metadata\/labels$/m);
    const quiet = await kymera(['build', 'base', '--policies', 'policies', '--quiet'], { files });
    expect(quiet).toMatchObject({ stdout: finished.stdout, stderr: '' });
  });

  it('writes nothing when a rule fails, and ends with 1', async () => {
    const all = { ...files, 'policies/labels.yaml': failing };
    const finished = await kymera(['build', 'base', '--policies', 'policies', '-o', 'out.yaml'], {
      files: all,
    });
    expect(finished).toMatchObject({ exitCode: 1, stdout: '' });
    expect(finished.stderr).toMatch(/failed: ConfigMap default\/c: policy/);
  });

  it('lets policies read the objects of the build', async () => {
    const reading = policy({
      rule: 'context: [{name: other, configMap: {name: settings, namespace: default}}]',
      mutate: 'patchStrategicMerge: {metadata: {labels: {team: "{{ other.data.team }}"}}}',
    });
    const all = {
      'app/kustomization.yaml': yaml({ resources: ['r.yaml'] }),
      'app/r.yaml': yaml(configMap('settings', { data: { team: 'shop' } })),
      'p.yaml': reading,
    };
    const { stdout } = await kymera(['build', 'app', '--policies', 'p.yaml'], { files: all });
    expect(stdout).toContain('team: shop');
  });
});

describe('kymera diff', () => {
  it('shows what a build changes against another, object by object, and ends with 1', async () => {
    const finished = await kymera(['diff', 'overlay', 'base'], { files });
    expect(finished).toMatchObject({ exitCode: 1, stderr: '' });
    expect(finished.stdout).toBe(
      [
        '--- base: Deployment (apps/v1) "d"',
        '+++ overlay: Deployment (apps/v1) "d"',
        '@@ -3,4 +3,4 @@',
        ' metadata:',
        '   name: d',
        ' spec:',
        '-  replicas: 1',
        '+  replicas: 3',
        '',
      ].join('\n'),
    );
    expect(await kymera(['diff', 'overlay', 'base', '--name-only'], { files })).toMatchObject({
      exitCode: 1,
      stdout: 'Deployment (apps/v1) "d"\n',
    });
  });

  it('ends with 0 when nothing differs', async () => {
    expect(await kymera(['diff', 'base', 'base'], { files })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    expect(await kymera(['diff', 'base', 'base/r.yaml'], { files })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('compares with objects in a folder: added, removed and changed ones', async () => {
    const all = {
      ...files,
      'live/a.yaml': yaml(configMap('c', { data: { k: 'old' } })),
      'live/b.yaml': yaml(configMap('gone')),
    };
    const { exitCode, stdout } = await kymera(['diff', 'base', 'live'], { files: all });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/- {2}k: old\n\+ {2}k: v/);
    expect(stdout).toMatch(/\+kind: Deployment/);
    expect(stdout).toMatch(/-kind: ConfigMap\n-metadata:\n- {2}name: gone/);
  });

  it('shows what policies will change', async () => {
    const { exitCode, stdout } = await kymera(['diff', 'base', '--policies', 'policies'], { files });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('+    team: shop');
    expect(stdout).toContain('--- base without policies: ConfigMap (v1) "c"');
  });

  it.each<[string, readonly string[], RegExp]>([
    ['nothing to compare with', ['diff', 'base'], /KYM_USAGE/],
    ['two things to compare with', ['diff', 'base', 'overlay', '--cluster'], /KYM_USAGE/],
    ['a folder that is not there', ['diff', 'base', 'none'], /KYM_INPUT_NOT_FOUND/],
    [
      'a cluster that cannot be reached',
      ['diff', 'base', '--cluster', '--kubeconfig', 'none'],
      /KYM_CLUSTER/,
    ],
  ])('ends with 2 for %s', async (_what, argv, message) => {
    const finished = await kymera(argv, { files });
    expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
    expect(finished.stderr).toMatch(message);
  });

  it('compares with a live object only what the build states', () => {
    const wanted = deployment('d', {
      template: { spec: { containers: [{ name: 'b' }, { name: 'a', image: 'x' }] } },
    });
    const live = {
      ...deployment(
        'd',
        {
          replicas: 1,
          template: {
            spec: {
              restartPolicy: 'Always',
              containers: [
                { name: 'a', image: 'y', tty: false },
                { name: 'b', image: 'z' },
              ],
            },
          },
        },
        { uid: 'u' },
      ),
      status: {},
    };
    expect(stated(live as unknown as Json, wanted as unknown as Json)).toEqual(
      deployment('d', { template: { spec: { containers: [{ name: 'a', image: 'y' }, { name: 'b' }] } } }),
    );
  });
});

it('a live map of which nothing is stated is not shown as an empty one', () => {
  const live = { annotations: { other: 'x' }, labels: {} };
  expect(stated(live, { annotations: { note: 'new' }, labels: { a: 'b' } })).toEqual({ labels: {} });
});

it('the help names every exit code that the commands have', async () => {
  for (const command of ['build', 'diff', 'transform']) {
    expect((await kymera([command, '--help'])).stdout, command).toMatch(/Exit codes/);
  }
  expect(readFileSync('docs/kustomize.md', 'utf8')).toContain('kymera diff');
});
