import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { policy } from '../../src/policy/policy.testing.ts';
import { findBinaries } from '../cluster/control-plane.ts';
import { configMap, objectsIn, yaml } from '../kustomize/build-fixture.ts';
import { kymera } from './in-process.testing.ts';

const labels = policy({ mutate: 'patchStrategicMerge: {metadata: {labels: {team: shop}}}' });
const labelled = (name: string) => configMap(name, {}, { labels: { team: 'shop' } });
const transformer = (...policies: readonly string[]) =>
  yaml({ apiVersion: 'kymera.io/v1', kind: 'PolicyTransformer', metadata: { name: 't' }, policies });

describe('kymera transform', () => {
  it('is an exec plugin: the policy in a file, resources on standard input', async () => {
    const finished = await kymera(['transform', 'config.yaml', 'extra'], {
      files: { 'config.yaml': labels },
      stdin: yaml(configMap('a'), configMap('b', {}, { namespace: 'ns' })),
    });
    expect(finished).toMatchObject({ exitCode: 0, stderr: '' });
    expect(objectsIn(finished.stdout)).toEqual([
      labelled('a'),
      configMap('b', {}, { namespace: 'ns', labels: { team: 'shop' } }),
    ]);
  });

  it('takes files that the config names', async () => {
    const finished = await kymera(['transform', 'config.yaml'], {
      files: { 'config.yaml': transformer('policies/labels.yaml'), 'policies/labels.yaml': labels },
      stdin: yaml(configMap('a')),
    });
    expect(objectsIn(finished.stdout)).toEqual([labelled('a')]);
  });

  it('is a KRM function: a ResourceList in, a ResourceList out, with its other fields', async () => {
    const list = {
      apiVersion: 'config.kubernetes.io/v1',
      kind: 'ResourceList',
      items: [configMap('a', {}, { annotations: { 'config.kubernetes.io/index': '0' } })],
      functionConfig: parse(labels),
    };
    const { exitCode, stdout } = await kymera(['transform'], { stdin: yaml(list) });
    expect(exitCode).toBe(0);
    expect(parse(stdout)).toEqual({
      ...list,
      items: [
        configMap('a', {}, { annotations: { 'config.kubernetes.io/index': '0' }, labels: { team: 'shop' } }),
      ],
    });
  });

  it('takes policies and resources together', async () => {
    const { stdout } = await kymera(['transform'], { stdin: `${labels}---\n${yaml(configMap('a'))}\n` });
    expect(objectsIn(stdout)).toEqual([labelled('a')]);
  });

  it.each<[string, readonly string[], string, Readonly<Record<string, string>>, RegExp]>([
    ['no policy', ['transform'], yaml(configMap('a')), {}, /there is no policy to apply/],
    ['a file that is missing', ['transform', 'none.yaml'], '', {}, /none\.yaml/],
    [
      'a policy file that is missing',
      ['transform', 't.yaml'],
      yaml(configMap('a')),
      { 't.yaml': transformer('none.yaml') },
      /none\.yaml/,
    ],
    ['no resources', ['transform', 'p.yaml'], 'a: [', { 'p.yaml': labels }, /\(stdin\)/],
    [
      'a policy that does not load',
      ['transform', 'p.yaml'],
      yaml(configMap('a')),
      { 'p.yaml': policy({ mutate: 'patchStrategicMerge: 5' }) },
      /KYM_/,
    ],
    [
      'a rule that fails',
      ['transform', 'p.yaml'],
      yaml(configMap('a')),
      {
        'p.yaml': policy({
          mutate: 'patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.none }}"}}}',
        }),
      },
      /policy .*rule/,
    ],
    [
      'a config that is no policy',
      ['transform'],
      yaml({ kind: 'ResourceList', items: [], functionConfig: configMap('a') }),
      {},
      /is not a policy/,
    ],
  ])('refuses %s, and prints nothing', async (_what, argv, stdin, files, message) => {
    const finished = await kymera(argv, { stdin, files });
    expect(finished.exitCode).toBe(2);
    expect(finished.stdout).toBe('');
    expect(finished.stderr).toMatch(message);
  });
});

describe('a policy under transformers', () => {
  const kustomization = (...transformers: readonly string[]) =>
    yaml({ resources: ['r.yaml'], namePrefix: 'x-', transformers });
  const resources = yaml(configMap('a'));

  it.each(['kyverno.io/v1', 'kymera.io/v1'])(
    'of %s is applied by kymera build itself, after the built-in transformers',
    async (apiVersion) => {
      const files = {
        'kustomization.yaml': kustomization('policy.yaml'),
        'r.yaml': resources,
        'policy.yaml': labels.replace('kyverno.io/v1', apiVersion),
      };
      const finished = await kymera(['build', '.'], { files });
      expect(finished).toMatchObject({ exitCode: 0 });
      expect(objectsIn(finished.stdout)).toEqual([labelled('x-a')]);
      expect(finished.stderr).toMatch(/ConfigMap default\/x-a: policy .*: add \/metadata\/labels/);
    },
  );

  it('may be named by a PolicyTransformer, whose files lie in the folder', async () => {
    const files = {
      'app/kustomization.yaml': kustomization('t.yaml'),
      'app/r.yaml': resources,
      'app/t.yaml': transformer('p.yaml'),
      'app/p.yaml': labels,
    };
    expect(objectsIn((await kymera(['build', 'app'], { files })).stdout)).toEqual([labelled('x-a')]);
    const outside = { ...files, 'app/t.yaml': transformer('../p.yaml'), 'p.yaml': labels };
    expect(await kymera(['build', 'app'], { files: outside })).toMatchObject({ exitCode: 2, stdout: '' });
  });

  it('that does not load, or a rule of it that fails, ends the build', async () => {
    for (const broken of [
      policy({ mutate: 'patchStrategicMerge: 5' }),
      policy({ mutate: 'patchStrategicMerge: {metadata: {labels: {a: "{{ request.object.none }}"}}}' }),
    ]) {
      const files = { 'kustomization.yaml': kustomization('p.yaml'), 'r.yaml': resources, 'p.yaml': broken };
      expect(await kymera(['build', '.'], { files })).toMatchObject({ exitCode: 2, stdout: '' });
    }
  });
});

/** The program, built; a real kustomize, where there is one: kubectl has one inside, without functions. */
const program = resolve('bin/kymera');
const kubectl = findBinaries()?.kubectl;
const kustomize = findKustomize();

function findKustomize(): readonly string[] | undefined {
  const named = process.env['KUSTOMIZE'];
  if (named !== undefined) return [named, 'build'];
  if (spawnSync('kustomize', ['version']).status === 0) return ['kustomize', 'build'];
  return kubectl === undefined ? undefined : [kubectl, 'kustomize'];
}

describe('a policy in the real kustomize', () => {
  beforeEach(({ skip }) => {
    if (kustomize === undefined) skip('there is no kustomize on the path, in KUSTOMIZE or in a kubectl');
    if (spawnSync(program, ['--version']).status !== 0) skip('kymera is not built');
  });
  function realBuild(files: Readonly<Record<string, string>>, flags: readonly string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-real-'));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
      if (text.startsWith('#!')) chmodSync(join(folder, name), 0o755);
    }
    const env = { ...process.env, KUSTOMIZE_PLUGIN_HOME: join(folder, 'plugins') };
    const [command = '', ...args] = kustomize ?? [];
    const { stdout, stderr } = spawnSync(command, [...args, folder, ...flags], {
      env,
      encoding: 'utf8',
    });
    return { objects: objectsIn(stdout), stderr };
  }
  const base = {
    'kustomization.yaml': yaml({ resources: ['r.yaml'], transformers: ['p.yaml'] }),
    'r.yaml': yaml(configMap('a')),
  };

  it('is a plugin by kind', () => {
    const files = {
      ...base,
      'p.yaml': labels,
      'plugins/kyverno.io/v1/clusterpolicy/ClusterPolicy': `#!/bin/sh\nexec ${program} transform "$@"\n`,
    };
    expect(realBuild(files, ['--enable-alpha-plugins'])).toEqual({ objects: [labelled('a')], stderr: '' });
  });

  it('is a function', ({ skip }) => {
    if (kustomize?.[1] === 'kustomize') skip('the kustomize inside kubectl runs no functions');
    const spec = JSON.stringify({ exec: { path: program, args: ['transform'] } });
    const document = parse(labels);
    const annotated = {
      ...document,
      metadata: { ...document.metadata, annotations: { 'config.kubernetes.io/function': spec } },
    };
    const { objects } = realBuild({ ...base, 'p.yaml': yaml(annotated) }, [
      '--enable-alpha-plugins',
      '--enable-exec',
    ]);
    expect(objects).toEqual([labelled('a')]);
  });
});
