import { expect, it } from 'vitest';
import { emptyDataSource } from '../engine/context/data-source.ts';
import { spendSteps } from '../json/budget.ts';
import { manualClock } from './clock.testing.ts';
import { createEvaluate, createTurn, type EvaluationOptions } from './evaluate.ts';
import { runGenerate } from './generate/generate.ts';
import { environment, object, policyWith, requestOf, trigger } from './policy.testing.ts';
import { createBreaker } from './queue/breaker.ts';
import { createMemoryStore } from './store/memory-store.ts';
import { runTargets } from './targets/run-targets.ts';
import { triggerOutcomes } from './triggers/triggered-rules.ts';

const evaluation = { limits: { steps: 20_000, bytes: 1 << 20 } };
/** Doubles a list until the budget ends. */
const bomb = `[\`1\`]${' | [@,@][]'.repeat(40)} | length(@)`;
const base = { dataSource: emptyDataSource, environment, evaluation };

it('a target that costs too much is a failure with policy, rule and location', async () => {
  const policy = policyWith(
    `mutate: {targets: [{apiVersion: v1, kind: Secret}], patchStrategicMerge: {metadata: {labels: {a: "{{ to_string(${bomb}) }}"}}}}`,
  );
  const [rule] = policy.rules;
  if (rule === undefined) throw new Error('no rule');
  const store = createMemoryStore([object('Secret', 'ns/one'), object('Secret', 'ns/two')]);
  const clock = manualClock();
  const result = await runTargets({
    ...base,
    policy,
    rule,
    request: requestOf(trigger),
    store,
    reader: store,
    clock,
    breaker: createBreaker({ clock }),
    chain: [],
    isActive: () => true,
    onWrite: () => {},
  });
  expect(result.failures).toEqual(
    ['one', 'two'].map((name) => ({
      code: 'KYM_BUDGET_EXHAUSTED',
      message: expect.stringMatching(
        new RegExp(
          `^policy p, rule r: Secret ns/${name}: .*\\(rule /mutate/.*\\) \\[KYM_BUDGET_EXHAUSTED\\]$`,
        ),
      ),
    })),
  );
});

it('so is a generated object', async () => {
  const policy = policyWith(
    `generate: {apiVersion: v1, kind: Secret, namespace: ns, name: made, data: {metadata: {labels: {a: "{{ to_string(${bomb}) }}"}}}}`,
  );
  const [rule] = policy.generateRules;
  if (rule === undefined) throw new Error('no rule');
  const store = createMemoryStore([]);
  const { objects } = await runGenerate({ ...base, policy, rule, request: requestOf(trigger), store });
  expect(objects).toMatchObject([
    {
      action: 'failed',
      code: 'KYM_BUDGET_EXHAUSTED',
      message: expect.stringMatching(/^policy p, rule r, \/generate/),
    },
  ]);
  expect(store.objects()).toEqual([]);
});

it('so are preconditions', async () => {
  const policy = policyWith(
    `preconditions: {all: [{key: "{{ ${bomb} }}", operator: Equals, value: 1}]}, generate: {apiVersion: v1, kind: Secret, namespace: ns, name: made, data: {}}`,
  );
  expect(await triggerOutcomes(requestOf(trigger), policy, base)).toMatchObject([
    { status: 'failed', failure: { code: 'KYM_BUDGET_EXHAUSTED' } },
  ]);
});

it('after a long evaluation the event loop turns before the next one', async () => {
  let now = 0;
  const order: string[] = [];
  const turn = createTurn(
    () =>
      new Promise((resolve) => {
        setTimeout(() => {
          order.push('timers');
          resolve();
        }, 0);
      }),
  );
  const options = { limits: evaluation.limits, clock: () => now, turn };
  const work = (name: string) =>
    createEvaluate(options)(() => {
      spendSteps(1);
      now += 100;
      order.push(name);
    });
  await Promise.all(['a', 'b', 'c'].map(work));
  expect(order).toEqual(['a', 'timers', 'b', 'timers', 'c']);
});

it('timers run during a long loop, such as the renewal of a Lease', async () => {
  const turn = createTurn(() => new Promise((resolve) => setTimeout(resolve)));
  /** How often a timer runs during forty evaluations of 20 ms. */
  const ticksDuring = async (options: EvaluationOptions) => {
    let [now, ticks] = [0, 0];
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    const evaluate = () => createEvaluate({ ...options, clock: () => now });
    for (let count = 0; count < 40; count += 1) {
      await evaluate()(() => {
        now += 20;
      });
    }
    clearInterval(timer);
    return ticks;
  };
  expect(await ticksDuring(evaluation)).toBe(0);
  expect(await ticksDuring({ ...evaluation, turn })).toBeGreaterThanOrEqual(30);
});
