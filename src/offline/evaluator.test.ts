import { describe, expect, test } from 'vitest';
import { clusterPolicy, configMap, configMapRule, policySet } from '../engine/policies.testing.ts';
import type { JsonObject } from '../json/value.ts';
import { createInputDataSource } from './data-source.ts';
import { createEvaluator } from './evaluator.ts';
import { createValuesLookup } from './request-values.ts';

const environment = { now: () => new Date(0), random: () => 0 };

/** A policy that writes the keys of the old data into the field of its name. */
const keysOfOldData = (name: string): string =>
  clusterPolicy(
    name,
    configMapRule(
      name,
      `{patchStrategicMerge: {data: {${name}: "{{ sort(keys(request.oldObject.data)) | join(',', @) }}"}}}`,
    ),
  );

async function dataAfterUpdate(globalValues: JsonObject): Promise<unknown> {
  const { policies } = policySet(keysOfOldData('first'), keysOfOldData('second'));
  const evaluator = createEvaluator({
    policies,
    exceptions: [],
    values: createValuesLookup(undefined, { 'request.operation': 'UPDATE', ...globalValues }),
    dataSource: createInputDataSource([], environment),
    environment,
    steps: true,
  });
  const { after, failedPolicies } = await evaluator.evaluate(configMap('a', { new: '1' }));
  expect(failedPolicies).toEqual([]);
  return after['data'];
}

describe('the old object of an update', () => {
  test('is the object before all policies if no values are given', async () => {
    expect(await dataAfterUpdate({})).toEqual({ new: '1', first: 'new', second: 'new' });
  });

  test('is the new object with the fields that are given', async () => {
    expect(await dataAfterUpdate({ 'request.oldObject.data.old': '0' })).toEqual({
      new: '1',
      first: 'new,old',
      second: 'new,old',
    });
  });

  test('is the whole object that is given', async () => {
    expect(await dataAfterUpdate({ 'request.oldObject': configMap('a', { old: '0' }) })).toEqual({
      new: '1',
      first: 'old',
      second: 'old',
    });
  });
});
