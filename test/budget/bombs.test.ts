import { expect, it } from 'vitest';
import { requestFor } from '../../src/admission/resource-request.ts';
import { mutate } from '../../src/engine/mutate.ts';
import { loadPolicies } from '../../src/index.ts';
import { admissionLimits } from '../../src/json/budget.ts';
import { systemEnvironment } from '../../src/system-environment.ts';
import { bombs, objectOf, policyOf } from './bombs.testing.ts';

it('there are forty and more', () => {
  expect(bombs.length).toBeGreaterThanOrEqual(40);
  expect(new Set(bombs.map(({ name }) => name)).size).toBe(bombs.length);
});

it.each(bombs.map((bomb, index) => ({ ...bomb, index })))('$name', async (bomb) => {
  const text = JSON.stringify(policyOf(bomb, bomb.index));
  const { snapshot, problems } = loadPolicies({ file: 'bomb.yaml', text });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const request = requestFor(objectOf(bomb, bomb.index), { operation: 'CREATE' });
  const startedAt = process.cpuUsage();
  const { outcomes } = await mutate(request, snapshot, {
    environment: systemEnvironment,
    clock: () => performance.now(),
    limits: admissionLimits,
  });
  const { user, system } = process.cpuUsage(startedAt);
  const [outcome] = outcomes;
  expect(outcome).toMatchObject({ status: 'failed' });
  expect(outcome?.rule.name).toBe('bomb');
  if (outcome?.status !== 'failed') return;
  expect(['KYM_BUDGET_EXHAUSTED', 'KYM_EXPRESSION_FAILED']).toContain(outcome.failure.code);
  expect(outcome.failure.rulePath.length).toBeGreaterThan(0);
  // The limit for evaluation is half a second; some single steps cannot be interrupted. CPU time, because the machine may be busy.
  expect((user + system) / 1_000).toBeLessThan(5_000);
});
