import { afterAll, beforeAll, beforeEach, describe, inject } from 'vitest';
import { createKubectl, type Kubectl } from './kubectl.ts';
import type { Settings, SuiteSettings } from './settings.ts';

export interface Suite {
  readonly settings: Settings;
  readonly kubectl: Kubectl;
  /** A namespace of this suite's own, removed at its end. */
  readonly namespace: string;
  /** Runs before the tests, unless they are skipped. */
  before(prepare: Step): void;
  /** Runs after the tests, the last one given first, unless they were skipped. */
  after(tidy: Step): void;
}

type Step = () => Promise<unknown>;

/**
 * A group of tests against the cluster; where none can be had, or for the reason given, each is skipped and says why.
 */
export function suite(name: string, define: (suite: Suite) => void, skipReason?: string): void {
  const given = inject('settings');
  const skip = 'skip' in given ? given.skip : skipReason;
  const settings = ownCluster(given) ?? { kubectl: '', kubeconfig: '', host: '', reach: 'url' };
  const namespace = namespaceFor(name);
  const kubectl = createKubectl(settings, namespace);
  const preparations: Step[] = [
    () => kubectl.ok('create', 'namespace', namespace),
    () => kubectl.hasServiceAccount(),
  ];
  const tidying: Step[] = [() => kubectl.ok('delete', 'namespace', namespace, '--wait=false')];
  describe(name, () => {
    let isPrepared = false;
    beforeAll(async () => {
      if (skip !== undefined) return;
      for (const prepare of preparations) await prepare();
      isPrepared = true;
    });
    afterAll(async () => {
      if (skip !== undefined) return;
      for (const tidy of tidying.toReversed()) {
        // What was not prepared cannot be tidied up either, which is not the problem to tell of.
        await (isPrepared ? tidy() : tidy().catch(() => undefined));
      }
    });
    beforeEach((context) => {
      if (skip !== undefined) context.skip(skip);
    });
    define({
      settings,
      kubectl,
      namespace,
      before: (prepare) => preparations.push(prepare),
      after: (tidy) => tidying.push(tidy),
    });
  });
}

/** No two spec files that run at the same time have the same number, which is one of 1 to the number of workers. */
function ownCluster(given: SuiteSettings): Settings | undefined {
  return 'skip' in given ? undefined : given[Number(process.env['VITEST_POOL_ID']) - 1];
}

function namespaceFor(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `e2e-${words}`.slice(0, 50).replace(/-$/, '');
}
