import { expect, it } from 'vitest';
import { compileWildcard } from '../../expression/wildcard.ts';
import { createKindTable } from './discovery.ts';

it('a selector of a CEL policy selects the kinds of its resources, not every kind', () => {
  const served = (group: string, kind: string, resource: string) => ({
    group,
    version: 'v1',
    kind,
    resource,
    namespaced: true,
    verbs: ['list'],
    subresources: [],
  });
  const table = createKindTable([served('', 'Pod', 'pods'), served('apps', 'Deployment', 'deployments')]);
  const any = compileWildcard('*');
  const selector = {
    text: 'v1/pods',
    group: any,
    version: any,
    kind: any,
    subresource: compileWildcard(''),
    resource: compileWildcard('pods'),
  };
  expect(table.select(selector).map(({ kind }) => kind)).toEqual(['Pod']);
});
