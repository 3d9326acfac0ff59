import { describe, expect, it, test } from 'vitest';
import { imagesOf, parseImage } from './image.ts';
import { EvaluationError } from './scope.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('parseImage', () => {
  test.each([
    ['nginx', 'docker.io', 'nginx', 'nginx', 'latest', 'docker.io/nginx:latest'],
    ['library/nginx:v1', 'docker.io', 'library/nginx', 'nginx', 'v1', 'docker.io/library/nginx:v1'],
    ['ghcr.io/a/b:1', 'ghcr.io', 'a/b', 'b', '1', 'ghcr.io/a/b:1'],
    ['localhost/x', 'localhost', 'x', 'x', 'latest', 'localhost/x:latest'],
    ['localhost:5000/x:2', 'localhost:5000', 'x', 'x', '2', 'localhost:5000/x:2'],
    ['Registry/x', 'Registry', 'x', 'x', 'latest', 'Registry/x:latest'],
    ['[::1]:5000/x', '[::1]:5000', 'x', 'x', 'latest', '[::1]:5000/x:latest'],
  ])('%s', (text, registry, path, name, tag, reference) => {
    expect(parseImage(text)).toEqual({ registry, path, name, tag, reference, referenceWithTag: reference });
  });

  it('has no tag beside a digest unless one is written', () => {
    expect(parseImage(`localhost:5000/x@${digest}`)).toEqual({
      registry: 'localhost:5000',
      path: 'x',
      name: 'x',
      digest,
      reference: `localhost:5000/x@${digest}`,
      referenceWithTag: 'localhost:5000/x:',
    });
    expect(parseImage(`x:1@${digest}`)).toMatchObject({
      tag: '1',
      reference: `docker.io/x@${digest}`,
      referenceWithTag: 'docker.io/x:1',
    });
  });

  it('takes a path of 255 characters, and no longer one', () => {
    expect(parseImage(`ghcr.io/${'a'.repeat(255)}`)?.path).toHaveLength(255);
    expect(parseImage(`ghcr.io/${'a'.repeat(256)}`)).toBeUndefined();
  });

  it('takes another default registry', () => {
    const defaults = { defaultRegistry: 'mirror.local:5000', enableDefaultRegistryMutation: true };
    expect(parseImage('nginx', defaults)?.reference).toBe('mirror.local:5000/nginx:latest');
  });

  it.each([
    ['nginx', { name: 'nginx', path: 'nginx', tag: 'latest', reference: 'nginx:latest' }],
    ['org/app:1', { name: 'app', path: 'org/app', tag: '1', reference: 'org/app:1' }],
    ['my_registry/app:1', { registry: 'my_registry', path: 'app', reference: 'my_registry/app:1' }],
    ['ghcr.io/org/app:1', { registry: 'ghcr.io', path: 'org/app', reference: 'ghcr.io/org/app:1' }],
  ])('adds none when that is off: %s', (text, expected) => {
    const defaults = { defaultRegistry: 'docker.io', enableDefaultRegistryMutation: false };
    const info = parseImage(text, defaults);
    expect(info).toMatchObject({ ...expected, referenceWithTag: expected.reference });
    expect(info?.registry).toBe('registry' in expected ? expected.registry : undefined);
  });

  test.each([
    '',
    'A',
    'a..b',
    'a:',
    'a/',
    'a b',
    'a@sha256:abc',
    `a@md5:${'a'.repeat(32)}`,
    `a:${'x'.repeat(129)}`,
  ])('%j is no image', (text) => {
    expect(parseImage(text)).toBeUndefined();
  });
});

describe('imagesOf', () => {
  const nginx = {
    registry: 'docker.io',
    name: 'nginx',
    path: 'nginx',
    tag: 'latest',
    reference: 'docker.io/nginx:latest',
    referenceWithTag: 'docker.io/nginx:latest',
  };
  const spec = {
    initContainers: [{ name: 'i', image: 'nginx' }],
    containers: [{ name: 'a' }, { name: 'b', image: 'nginx' }],
  };

  test.each([
    ['Pod', { spec }, '/spec'],
    ['Deployment', { spec: { template: { spec } } }, '/spec/template/spec'],
    ['Job', { spec: { template: { spec } } }, '/spec/template/spec'],
    [
      'CronJob',
      { spec: { jobTemplate: { spec: { template: { spec } } } } },
      '/spec/jobTemplate/spec/template/spec',
    ],
  ])('of a %s, by list and container', (kind, object, prefix) => {
    expect(imagesOf(object, kind)).toEqual({
      initContainers: { i: { ...nginx, jsonPointer: `${prefix}/initContainers/0/image` } },
      containers: { b: { ...nginx, jsonPointer: `${prefix}/containers/1/image` } },
    });
  });

  it('is absent for kinds without pods, and empty without containers', () => {
    expect(imagesOf({}, 'Service')).toBeUndefined();
    expect(imagesOf({}, 'Pod')).toEqual({});
    expect(imagesOf({ spec: { containers: [] } }, 'Pod')).toEqual({});
  });

  it('refuses containers without name and images that do not parse', () => {
    expect(() => imagesOf({ spec: { containers: [{ image: 'a' }] } }, 'Pod')).toThrow(EvaluationError);
    expect(() => imagesOf({ spec: { containers: [{ name: 'a', image: 'A B' }] } }, 'Pod')).toThrow(
      "images: invalid image 'A B' at /spec/containers/0/image",
    );
  });
});
