import { expect, it } from 'vitest';
import { kymera } from './in-process.testing.ts';

it.each([
  ['serve', 'a in'],
  ['serve', ''],
  ['background', 'a=b,,c'],
])('kymera %s --policy-selector %j is refused before a cluster is looked for', async (command, selector) => {
  const finished = await kymera([command, '--kubeconfig', 'none', '--policy-selector', selector]);
  expect(finished.exitCode).toBe(2);
  expect(finished.stderr).toContain('--policy-selector:');
  expect(finished.stderr).toContain('[KYM_USAGE]');
});
