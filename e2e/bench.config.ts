import { defineConfig } from 'vitest/config';

/** Measurements against the control plane: not part of the tests. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['bench/*.e2e.ts'],
    globalSetup: ['global-setup.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
