import { isSeq, Scalar, type YAMLMap } from 'yaml';
import { mapAt, mapsIn, newMap, newPair, pairOf, removePair, renameKey, textAt } from '../../yaml/nodes.ts';

const webhookFields = [
  ['failurePolicy', 'failurePolicy'],
  ['webhookTimeoutSeconds', 'timeoutSeconds'],
] as const;

/** Moves deprecated fields of `spec` to their current location. */
export function convertFields(spec: YAMLMap): void {
  for (const [old, current] of webhookFields) moveToWebhook(spec, old, current);
  moveToTargets(spec);
  const schemaValidation = pairOf(spec, 'schemaValidation');
  if (schemaValidation !== undefined) removePair(spec, schemaValidation);
}

function moveToWebhook(spec: YAMLMap, old: string, current: string): void {
  const pair = pairOf(spec, old);
  if (pair === undefined) return;
  const webhook = mapAt(spec, 'webhookConfiguration');
  if (webhook !== undefined) {
    renameKey(pair, current);
    removePair(spec, pair);
    webhook.items.push(pair);
    return;
  }
  const value = newPair(current, pair.value as Scalar);
  renameKey(pair, 'webhookConfiguration');
  pair.value = newMap([value]);
}

/** Only rules with targets have this field. An existing value of a rule wins. */
function moveToTargets(spec: YAMLMap): void {
  const pair = pairOf(spec, 'mutateExistingOnPolicyUpdate');
  if (pair === undefined) return;
  const value = textAt(spec, 'mutateExistingOnPolicyUpdate');
  removePair(spec, pair);
  if (value !== 'true') return;
  for (const rule of mapsIn(spec, 'rules')) {
    const mutate = mapAt(rule, 'mutate');
    if (mutate === undefined || !isSeq(pairOf(mutate, 'targets')?.value)) continue;
    if (pairOf(mutate, 'mutateExistingOnPolicyUpdate') !== undefined) continue;
    mutate.items.unshift(newPair('mutateExistingOnPolicyUpdate', new Scalar('true')));
  }
}
