import { describe, expect, it } from 'vitest';
import { checkConversion } from '../../src/convert/checked-conversion.ts';
import { convertPolicy } from '../../src/convert/policy.ts';
import { compilePolicy } from '../../src/policy/compile/policy.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { randomPolicy } from './random-policy.testing.ts';

/** `npm run convert:property` compares 10,000 pairs of a policy and an object. */
const pairs = Number(process.env['KYMERA_CONVERT_PAIRS'] ?? 600);
const firstSeed = Number(process.env['KYMERA_CONVERT_SEED'] ?? 1);
const objectsPerPolicy = 20;

describe.each(['mutatingpolicy', 'map'] as const)('random policies converted to %s', (to) => {
  it('give the same results as before on random objects', { timeout: 600_000 }, async () => {
    let compared = 0;
    let changed = 0;
    let refused = 0;
    let seed = firstSeed;
    for (; compared < pairs / 2; seed++) {
      const document = randomPolicy(seed);
      const { policy, problems } = compilePolicy(document, { file: `seed ${seed}` });
      if (policy === undefined) throw new Error(`seed ${seed}: ${problems[0]?.message}`);
      const conversion = convertPolicy(document, { to });
      if (conversion.refusals.length + conversion.differences.length > 0) {
        refused++;
        continue;
      }
      const { proof, problems: found } = await checkConversion(policy, conversion, {
        limit: objectsPerPolicy,
        seed,
      });
      const texts = conversion.documents.map(({ text }) => text).join('---\n');
      const context = () => `seed ${seed}\n${writeYaml(document)}\n${texts}`;
      expect(found, context()).toEqual([]);
      expect(proof?.difference, context()).toBeUndefined();
      compared += proof?.compared ?? 0;
      changed += proof?.changed ?? 0;
    }
    expect(changed).toBeGreaterThan(compared / 20);
    expect(refused).toBeLessThan((seed - firstSeed) / 4);
  });
});
