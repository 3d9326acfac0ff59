import { labelsOf } from '../../json/metadata.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { FieldPathError } from '../../patch/field-path/field-path.ts';
import { type LabelTest, parseLabelSelector } from '../../patch/replacement/label-selector.ts';
import type { ApiClient } from '../api/client.ts';
import { type Informer, type InformerTiming, startInformer } from '../api/informer.ts';
import { resourceTypes } from '../api/resource-path.ts';

/** Which policies of the cluster are for this program. */
export interface PolicyChoice {
  takes(policy: JsonObject): boolean;
  /** Kyverno's webhooks are in the cluster, too. */
  isKyvernoThere(): boolean;
  readonly informer: Informer;
}

export interface PolicyChoiceOptions {
  readonly client: ApiClient;
  /** Labels of the `kyverno.io` policies to take, as `kubectl --selector` reads them. */
  readonly selector?: string | undefined;
  /** Called when the answer of `takes` may have changed. */
  readonly onChange: () => void;
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

/** Throws FieldPathError for a selector that cannot be read. */
export function checkPolicySelector(selector: string): LabelTest {
  const test = parseLabelSelector(selector, { strict: true });
  if (selector.trim() === '') throw new FieldPathError('the selector is empty');
  return test;
}

/**
 * Policies of `kymera.io` are always taken. Those of `kyverno.io` are taken by the selector; without one all are, unless Kyverno
 * runs here: two programs would apply each of them then.
 */
export function startPolicyChoice(options: PolicyChoiceOptions): PolicyChoice {
  const { client, selector, onChange, onError, timing } = options;
  const isSelected = selector === undefined ? undefined : checkPolicySelector(selector);
  const theirs = new Set<string>();
  const informer = startInformer({
    client,
    type: resourceTypes.mutatingWebhooks,
    kind: 'MutatingWebhookConfiguration',
    select: { metadataOnly: true },
    timing,
    onChange({ key, object }) {
      const before = theirs.size > 0;
      if (object !== undefined && isOfKyverno(object)) theirs.add(key);
      else theirs.delete(key);
      if (before !== theirs.size > 0) onChange();
    },
    onError,
  });
  void informer.synced.then(onChange);
  return {
    takes(policy) {
      if (!isOfGroup(policy, 'kyverno.io')) return true;
      if (isSelected !== undefined) return isSelected(labelsOf(policy));
      // Before the first look nobody knows: none is applied twice.
      return informer.hasSynced() && theirs.size === 0;
    },
    isKyvernoThere: () => theirs.size > 0,
    informer,
  };
}

/** Kyverno labels what it manages; old releases only name it. */
export function isOfKyverno(configuration: JsonObject): boolean {
  const name = readText(readObject(configuration, 'metadata') ?? {}, 'name') ?? '';
  return (
    labelsOf(configuration)['webhook.kyverno.io/managed-by'] === 'kyverno' ||
    /^kyverno-.*webhook-cfg/.test(name)
  );
}

function isOfGroup(policy: JsonObject, group: string): boolean {
  return (readText(policy, 'apiVersion') ?? '').startsWith(`${group}/`);
}
