import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** These layers keep no state between calls, so their tests share a process and its imported modules. */
const pure =
  'src/{json,yaml,expression,cel,patch,policy,engine,analysis,admission,kustomize,offline,convert}/**/*.test.ts';
/** All but the tests that measure memory, which take most of a minute. */
const cli = ['src/cli/**/*.test.ts', 'test/cli/!(apply-stream).test.ts'];

export default defineConfig({
  test: {
    // By default vitest leaves one core idle, which is half of two.
    maxWorkers: Math.max(availableParallelism(), 2),
    projects: [
      { extends: true, test: { name: 'pure', include: [pure], isolate: false } },
      { extends: true, test: { name: 'cli', include: cli } },
      {
        extends: true,
        test: {
          name: 'web',
          globalSetup: ['test/web/global-setup.ts'],
          include: ['web/**/*.test.ts', 'test/web/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [pure, ...cli, 'test/web/**'],
        },
      },
    ],
    testTimeout: 20_000,
    // A page on a busy machine needs more than a second.
    expect: { poll: { timeout: 15_000 } },
  },
});
