import type { Readiness, ReadinessCheck } from '../admission/policy-provider.ts';
import { sleep } from './api/back-off.ts';
import { ClusterAccessError } from './api/cluster-error.ts';
import type { Informer } from './api/informer.ts';
import type { Certificates } from './certificates/certificates.ts';

export interface ClusterReadiness {
  (): Readiness;
  /** Rejects, naming what is missing, when it takes too long. */
  whenReady(timeoutMs?: number): Promise<void>;
}

/** Ready when every cache was filled once and there is a certificate: not when the API server is away for a while. */
export function clusterReadiness(
  informers: () => ReadonlyMap<string, Informer>,
  certificates: Certificates | undefined,
): ClusterReadiness {
  const check = (): Readiness => {
    const checks: ReadinessCheck[] = [...informers()].map(([name, informer]) => ({
      name,
      ok: informer.hasSynced(),
      ...(informer.hasSynced() ? {} : { detail: 'not listed yet' }),
    }));
    if (certificates !== undefined) {
      const ok = certificates.serving() !== undefined && certificates.caBundle() !== undefined;
      checks.push({ name: 'certificate', ok, ...(ok ? {} : { detail: 'not made yet' }) });
    }
    return { ready: checks.every(({ ok }) => ok), checks };
  };
  return Object.assign(check, {
    async whenReady(timeoutMs = 60_000) {
      const endsAt = Date.now() + timeoutMs;
      while (!check().ready) {
        if (Date.now() > endsAt) {
          const missing = check().checks.filter(({ ok }) => !ok);
          const names = missing.map(({ name, detail }) => `${name} (${detail ?? 'missing'})`);
          throw new ClusterAccessError(`the cluster did not answer in time: ${names.join(', ')}`);
        }
        await sleep(50);
      }
    },
  });
}
