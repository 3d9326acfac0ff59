import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['specs/*.e2e.ts'],
    globalSetup: ['global-setup.ts'],
    // One control plane per worker (see run.mjs). Spec files of a worker run one after the other.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
