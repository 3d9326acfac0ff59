import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['specs/*.e2e.ts'],
    globalSetup: ['global-setup.ts'],
    // One control plane and cluster-wide policies: one file after the other.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
