import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pathOf, resourceOfPath } from './resource-path.ts';

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/).filter((text) => !/^(status|finalize)$/.test(text));
const place = fc.record({ namespace: word, name: word, subresource: word }, { requiredKeys: [] });

it('a path is read as it was written', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('', 'apps', 'shop.example'),
      word,
      fc.boolean(),
      place,
      (group, resource, namespaced, { namespace, name, subresource }) => {
        const type = { group, version: 'v1', resource, namespaced };
        const written = {
          ...(namespaced && namespace !== undefined ? { namespace } : {}),
          ...(name === undefined ? {} : { name, ...(subresource === undefined ? {} : { subresource }) }),
        };
        expect(resourceOfPath(pathOf(type, written))).toEqual({ group, version: 'v1', resource, ...written });
      },
    ),
  );
});

it('a Namespace and its own subresources are in none', () => {
  expect(resourceOfPath('/api/v1/namespaces/a/status')).toEqual({
    group: '',
    version: 'v1',
    resource: 'namespaces',
    name: 'a',
    subresource: 'status',
  });
});

it.each(['/', '/api', '/apis/apps', '/apis/apps/v1', '/version', '/healthz/ping', ''])(
  '%s leads to no resource',
  (path) => {
    expect(resourceOfPath(path)).toBeUndefined();
  },
);
