import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Layers that keep nothing between two calls: their tests may share a process, and what it has imported. */
const pure = 'src/{json,yaml,expression,patch,policy,engine,analysis,admission,kustomize}/**/*.test.ts';

export default defineConfig({
  test: {
    // By default one core is left idle, which is half of two.
    maxWorkers: Math.max(availableParallelism(), 2),
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: [pure], isolate: false },
      },
      {
        extends: true,
        test: { name: 'whole', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: [pure] },
      },
    ],
    testTimeout: 20_000,
  },
});
