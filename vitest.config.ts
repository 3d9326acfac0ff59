import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** These layers keep no state between calls, so their tests share a process and its imported modules. */
const pure =
  'src/{json,yaml,expression,cel,patch,policy,engine,analysis,admission,kustomize,offline,convert}/**/*.test.ts';
/** All but the tests that measure memory, which take most of a minute. They share a process, too: a run of the program ends with its result. */
const cli = ['src/cli/**/*.test.ts', 'test/cli/!(apply-stream).test.ts'];

export default defineConfig({
  test: {
    // By default vitest leaves one core idle, which is half of two.
    maxWorkers: Math.max(availableParallelism(), 2),
    globalSetup: ['test/temporary-folder.setup.ts'],
    projects: [
      { extends: true, test: { name: 'pure', include: [pure], isolate: false } },
      { extends: true, test: { name: 'cli', include: cli, isolate: false } },
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
    // On a busy machine. A test that hangs ends later; none depends on it.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
