import { labelsOf } from '../../json/metadata.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { FieldPathError } from '../../patch/field-path/field-path.ts';
import { type LabelTest, parseLabelSelector } from '../../patch/replacement/label-selector.ts';
import type { ApiClient } from '../api/client.ts';
import { type Informer, type InformerTiming, startInformer } from '../api/informer.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { ClusterLog } from '../settings/cluster-options.ts';

/** Decides which policies of the cluster this installation applies. */
export interface PolicySelection {
  selects(policy: JsonObject): boolean;
  /** Whether Kyverno's webhooks are installed in the cluster. */
  isKyvernoInstalled(): boolean;
  readonly informer: Informer;
}

export interface PolicySelectionOptions {
  readonly client: ApiClient;
  /** A label selector for `kyverno.io` and `policies.kyverno.io` policies, in the syntax of `kubectl --selector`. */
  readonly selector?: string | undefined;
  /** Called when the result of `selects` may have changed. */
  readonly onChange: () => void;
  readonly log: ClusterLog;
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

/** Throws FieldPathError for an invalid selector. */
export function checkPolicySelector(selector: string): LabelTest {
  const test = parseLabelSelector(selector, { strict: true });
  if (selector.trim() === '') throw new FieldPathError('the selector is empty');
  return test;
}

/**
 * `kymera.io` policies are always selected. `kyverno.io` and `policies.kyverno.io` policies are selected by the label selector. Without a label
 * selector all of them are, unless Kyverno is installed: both would apply each policy.
 */
export function startPolicySelection(options: PolicySelectionOptions): PolicySelection {
  const { client, selector, onChange, onError, timing, log } = options;
  const isSelected = selector === undefined ? undefined : checkPolicySelector(selector);
  const kyvernoWebhooks = new Set<string>();
  const informer = startInformer({
    client,
    type: resourceTypes.mutatingWebhooks,
    kind: 'MutatingWebhookConfiguration',
    select: { metadataOnly: true },
    timing,
    onChange({ key, object }) {
      const before = kyvernoWebhooks.size > 0;
      if (object !== undefined && isOfKyverno(object)) kyvernoWebhooks.add(key);
      else kyvernoWebhooks.delete(key);
      if (before === kyvernoWebhooks.size > 0) return;
      if (selector === undefined) reportKyverno(log, !before);
      onChange();
    },
    onError,
  });
  void informer.synced.then(onChange);
  return {
    selects(policy) {
      if (!isOfKyvernoGroup(policy)) return true;
      if (isSelected !== undefined) return isSelected(labelsOf(policy));
      // Until the list has arrived, assume that Kyverno is installed: no policy may be applied twice.
      return informer.hasSynced() && kyvernoWebhooks.size === 0;
    },
    isKyvernoInstalled: () => kyvernoWebhooks.size > 0,
    informer,
  };
}

function reportKyverno(log: ClusterLog, isInstalled: boolean): void {
  if (isInstalled)
    log.warn(
      {},
      'Kyverno runs in this cluster, so its policies (kyverno.io) are not applied here. Select some with --policy-selector, or set their apiVersion to kymera.io/v1',
    );
  else log.info({}, 'Kyverno was removed, so kyverno.io policies are applied here');
}

/** Kyverno labels its webhook configurations; old releases are recognised by the name. */
export function isOfKyverno(configuration: JsonObject): boolean {
  const name = readText(readObject(configuration, 'metadata') ?? {}, 'name') ?? '';
  return (
    labelsOf(configuration)['webhook.kyverno.io/managed-by'] === 'kyverno' ||
    /^kyverno-.*webhook-cfg/.test(name)
  );
}

/** `kyverno.io`, and `policies.kyverno.io` for CEL policies. */
function isOfKyvernoGroup(policy: JsonObject): boolean {
  return /^(policies\.)?kyverno\.io\//.test(readText(policy, 'apiVersion') ?? '');
}
