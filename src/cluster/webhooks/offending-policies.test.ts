import { describe, expect, it } from 'vitest';
import { findOffenders } from './offending-policies.ts';

const items = Array.from({ length: 100 }, (_, index) => index);

describe('offending policies', () => {
  it.each([[[]], [[0]], [[99]], [[3, 50, 51]]])('are found: %j', async (bad) => {
    const found = await findOffenders(items, async (part) =>
      part.some((item) => bad.includes(item as never)) ? 'no' : undefined,
    );
    expect([...found.keys()]).toEqual(bad);
  });

  it('are found without asking for each', async () => {
    let questions = 0;
    await findOffenders(items, async (part) => {
      questions += 1;
      return part.includes(42) ? 'no' : undefined;
    });
    expect(questions).toBeLessThan(20);
  });
});
