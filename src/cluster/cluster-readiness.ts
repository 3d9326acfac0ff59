import type { Readiness, ReadinessCheck } from '../admission/policy-provider.ts';
import { sleep } from './api/back-off.ts';
import { ClusterAccessError } from './api/cluster-error.ts';
import type { Informer } from './api/informer.ts';
import type { Certificates } from './certificates/certificates.ts';
import type { PathTokens } from './certificates/path-tokens.ts';

export interface ClusterReadiness {
  (): Readiness;
  /** Rejects after the timeout, with the names of the checks that fail. */
  whenReady(timeoutMs?: number): Promise<void>;
}

/** Ready when every cache has synced once and a certificate exists. A later outage of the API server does not change that. */
export function clusterReadiness(
  informers: () => ReadonlyMap<string, Informer>,
  certificates: Certificates | undefined,
  pathTokens?: PathTokens,
): ClusterReadiness {
  const check = (): Readiness => {
    const checks: ReadinessCheck[] = [...informers()].map(([name, informer]) => ({
      name,
      ok: informer.hasSynced(),
      ...(informer.hasSynced() ? {} : { detail: 'not listed yet' }),
    }));
    if (certificates !== undefined) {
      const ok = certificates.serving() !== undefined && certificates.caBundle() !== undefined;
      checks.push({ name: 'certificate', ok, ...(ok ? {} : { detail: 'not issued yet' }) });
    }
    if (pathTokens !== undefined) {
      const ok = pathTokens.current() !== undefined;
      checks.push({ name: 'webhook path', ok, ...(ok ? {} : { detail: 'not created yet' }) });
    }
    return { ready: checks.every(({ ok }) => ok), checks };
  };
  return Object.assign(check, {
    async whenReady(timeoutMs = 60_000) {
      const endsAt = performance.now() + timeoutMs;
      while (!check().ready) {
        if (performance.now() > endsAt) {
          const missing = check().checks.filter(({ ok }) => !ok);
          const names = missing.map(({ name, detail }) => `${name} (${detail ?? 'missing'})`);
          throw new ClusterAccessError(`the cluster was not ready in time: ${names.join(', ')}`);
        }
        await sleep(50);
      }
    },
  });
}
