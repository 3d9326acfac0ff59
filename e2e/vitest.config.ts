import { defineConfig } from 'vitest/config';
import { patienceSeconds } from './wait-for.ts';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['specs/*.e2e.ts'],
    globalSetup: ['global-setup.ts'],
    // One control plane per worker (see run.mjs). Spec files of a worker run one after the other.
    maxWorkers: 1,
    // On a busy machine. A test that hangs ends later; none depends on it.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: patienceSeconds * 1_000 } },
  },
});
