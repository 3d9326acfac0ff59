import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['specs/*.e2e.ts'],
    globalSetup: ['global-setup.ts'],
    // As many control planes as there are workers (see run.mjs). Within one: one file after the other.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
