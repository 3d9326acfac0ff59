import { afterAll, beforeAll, beforeEach, describe, inject } from 'vitest';
import { createKubectl, type Kubectl } from './kubectl.ts';
import type { Settings, SuiteSettings } from './settings.ts';

export interface Suite {
  readonly settings: Settings;
  readonly kubectl: Kubectl;
  /** The namespace of this suite, which is deleted at its end. */
  readonly namespace: string;
  /** Runs before the tests, unless they are skipped. */
  before(prepare: Step): void;
  /** Runs after the tests, in reverse order, unless they were skipped. */
  after(tidy: Step): void;
}

type Step = () => Promise<unknown>;

/**
 * A group of tests against the cluster. Without a cluster, or with a skip reason, each test is skipped with the reason.
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
        // After a failed preparation, errors of the clean-up are not interesting.
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

/** Concurrent spec files have different pool ids, from 1 to the number of workers. */
function ownCluster(given: SuiteSettings): Settings | undefined {
  return 'skip' in given ? undefined : given[Number(process.env['VITEST_POOL_ID']) - 1];
}

function namespaceFor(name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `e2e-${words}`.slice(0, 50).replace(/-$/, '');
}
