import type { ClusterLog, ClusterOptions } from '../cluster-options.ts';
import type { PolicyWatcherOptions } from './watcher.ts';

/** What decides about the policies of `kyverno.io`, and what is said about it. */
export function policySelection(
  { policySelector }: Pick<ClusterOptions, 'policySelector'>,
  log: ClusterLog,
): Pick<PolicyWatcherOptions, 'selector' | 'onKyverno'> {
  if (policySelector !== undefined) return { selector: policySelector };
  return {
    onKyverno(isThere) {
      if (isThere)
        log.warn(
          {},
          'Kyverno runs in this cluster: its policies (kyverno.io) are left to it. Choose some with --policy-selector, or give them the apiVersion kymera.io/v1',
        );
      else log.info({}, 'Kyverno is gone: the policies of kyverno.io are taken');
    },
  };
}
