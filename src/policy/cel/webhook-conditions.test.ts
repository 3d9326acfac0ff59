import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { compileMutatingPolicy } from './mutating-policy.ts';

function conditionsOf(
  matchConditions: readonly JsonObject[],
  rule: JsonObject = {},
  more: JsonObject = {},
): readonly { readonly name: string; readonly expression: string }[] {
  const { policy, problems } = compileMutatingPolicy(
    {
      apiVersion: 'policies.kyverno.io/v1',
      kind: 'MutatingPolicy',
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['configmaps'],
              ...rule,
            },
          ],
        },
        matchConditions: [...matchConditions],
        mutations: [
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' } },
        ],
        ...more,
      },
    },
    { file: 'test' },
    { strict: false },
  );
  if (policy === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return policy.matchConditions;
}

const condition = (expression: string, name = 'c') => ({ name, expression });
const plain = condition('object.metadata.name != "a"', 'plain');

describe('match conditions that the API server evaluates', () => {
  it('are passed on as written', () => {
    expect(conditionsOf([plain])).toEqual([plain]);
  });

  it.each([
    ['a library of Kyverno', condition('image("a").registry() == "b"')],
    ['variables', condition('variables.v == 1')],
    ['the object of the request', condition('request.object.metadata.name == "a"')],
  ])('are none if one uses %s, because the others may only decide together with it', (_, other) => {
    const variables = [{ name: 'v', expression: '1' }];
    expect(conditionsOf([plain, other], {}, { variables })).toEqual([]);
  });

  it.each([
    ['namespaceObject, which webhooks do not have', condition('namespaceObject.metadata.name == "a"'), {}],
    ['oldObject on CREATE, which is null there', condition('has(oldObject.metadata)'), {}],
    ['object on DELETE', condition('has(object.metadata)'), { operations: ['DELETE', 'UPDATE'] }],
    ['oldObject on every operation', condition('has(oldObject.metadata)'), { operations: ['*'] }],
  ])('leave out what reads %s', (_, other, rule) => {
    const kept = condition('request.name != "a"', 'kept');
    expect(conditionsOf([other, kept], rule)).toEqual([kept]);
  });

  it('may read oldObject if all requests have it', () => {
    const old = condition('oldObject.metadata.name != "a"');
    expect(conditionsOf([old], { operations: ['UPDATE'] })).toEqual([old]);
  });

  it('are limited to the kinds that each is for, if a policy for Pods applies to controllers', () => {
    const pods = { resources: ['pods'] };
    const more = { autogen: { podControllers: { controllers: ['deployments', 'cronjobs'] } } };
    expect(conditionsOf([condition('!object.spec.?hostPID.orValue(false) // why')], pods, more)).toEqual([
      {
        name: 'autogen-c',
        expression:
          "!(request.resource.group == '' && request.resource.resource in ['pods']) || (!object.spec.?hostPID.orValue(false) // why\n)",
      },
      {
        name: 'autogen-defaults-c',
        expression:
          "!(request.resource.group == 'apps' && request.resource.resource in ['deployments']) || (!object.spec.template.spec.?hostPID.orValue(false) // why\n)",
      },
      {
        name: 'autogen-cronjobs-c',
        expression:
          "!(request.resource.group == 'batch' && request.resource.resource in ['cronjobs']) || (!object.spec.jobTemplate.spec.template.spec.?hostPID.orValue(false) // why\n)",
      },
    ]);
  });

  it('have names that the API server accepts, even for long ones', () => {
    const found = conditionsOf([condition('true', 'n'.repeat(60))], { resources: ['pods'] });
    expect(found.map(({ name }) => name)).toEqual(['autogen-0', 'autogen-defaults-0', 'autogen-cronjobs-0']);
  });
});
