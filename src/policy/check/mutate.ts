import { hasVariable } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { read, readBoolean, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isNumber, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { notAString } from '../../yaml/advice.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { matchKinds } from './match-blocks.ts';
import { patchDocuments, staysBelow, touchesOnlyMetadata } from './patch-writes.ts';

/** Checks of `mutate` that Kyverno makes at install, except those made by the patch compilers. */
export function checkMutate(rule: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  const mutate = readObject(rule, 'mutate') ?? {};
  checkMetadataOnly(rule, mutate, reporter);
  checkLabels(mutate, reporter);
  checkTargetKinds(mutate, reporter);
  checkTargetsPresent(mutate, facts, reporter);
  if (readList(rule, 'celPreconditions').length > 0) {
    reporter.error(
      ['celPreconditions'],
      'KYM_FIELD_CONFLICT',
      'celPreconditions cannot be used with mutate',
      'Use preconditions.',
    );
  }
  if (read(rule, 'imageExtractors') !== undefined) {
    reporter.error(
      ['imageExtractors'],
      'KYM_FIELD_CONFLICT',
      'imageExtractors can only be used with verifyImages',
    );
  }
}

/** Objects of all kinds have only metadata in common. Operations of a JSON patch name their paths one by one and can fail, so Kyverno does not limit them. */
function checkMetadataOnly(rule: JsonObject, mutate: JsonObject, reporter: Reporter): void {
  if (!matchKinds(rule).includes('*') || read(mutate, 'targets') !== undefined) return;
  for (const patch of patchDocuments(mutate, ['mutate'])) {
    if (patch.form === 'operations' || touchesOnlyMetadata(patch)) continue;
    const message = 'a strategic merge patch for every kind can contain only metadata';
    reporter.error(patch.path, 'KYM_METADATA_ONLY', message, 'List the kinds that have the other fields.');
  }
}

function checkLabels(mutate: JsonObject, reporter: Reporter): void {
  for (const patch of patchDocuments(mutate, ['mutate'])) {
    if (patch.form !== 'merge') continue;
    for (const steps of [['metadata'], ['spec', 'template', 'metadata']]) {
      const metadata = steps.reduce<Json | undefined>(
        (value, step) => (isObject(value) ? read(value, step) : undefined),
        patch.content,
      );
      if (isObject(metadata)) checkTextMaps(metadata, [...patch.path, ...steps], reporter);
    }
  }
}

function checkTextMaps(metadata: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['labels', 'annotations']) {
    for (const [key, value] of Object.entries(readObject(metadata, field) ?? {})) {
      if (typeof value === 'string') continue;
      const at = [...path, field, key];
      const written = reporter.writtenAt?.(at);
      if (written !== undefined && (typeof value === 'boolean' || isNumber(value))) {
        reporter.error(at, 'KYM_LABEL_VALUE', notAString(written, value));
        continue;
      }
      const hint =
        value === null
          ? 'To remove it, use patchesJson6902 with op: remove.'
          : `Put quotes around it: ${stringifyJson(stringifyJson(value))}.`;
      reporter.error(at, 'KYM_LABEL_VALUE', `${field} are strings; found ${stringifyJson(value)}`, hint);
    }
  }
}

/**
 * Kinds have different schemas, so one patch fits several kinds only where they agree: in metadata, and for pod
 * controllers in their template.
 */
function checkTargetKinds(mutate: JsonObject, reporter: Reporter): void {
  const kinds = new Set(
    readObjects(mutate, 'targets')
      .map((target) => readText(target, 'kind') ?? '')
      .filter((kind) => kind !== '' && !hasVariable(kind) && !hasWildcard(kind)),
  );
  const patches = patchDocuments(mutate, ['mutate']);
  if (kinds.size < 2 || patches.every(touchesOnlyMetadata)) return;
  const haveTemplates = [...kinds].every((kind) => templateKinds.has(kind));
  if (haveTemplates && patches.every((patch) => staysBelow(patch, ['metadata', 'spec.template']))) return;
  const shared = haveTemplates ? 'metadata and spec.template' : 'metadata';
  const message = `one patch cannot fit ${[...kinds].join(' and ')}: they share only ${shared}`;
  reporter.error(['mutate', 'targets'], 'KYM_TARGET_KINDS', message, 'Write a separate rule for each kind.');
}

const templateKinds = new Set([
  'DaemonSet',
  'Deployment',
  'Job',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
]);

function checkTargetsPresent(mutate: JsonObject, facts: PolicyFacts, reporter: Reporter): void {
  const onUpdate =
    facts.mutateExistingOnPolicyUpdate || readBoolean(mutate, 'mutateExistingOnPolicyUpdate') === true;
  if (!onUpdate || readList(mutate, 'targets').length > 0) return;
  const message = 'mutateExistingOnPolicyUpdate needs targets';
  reporter.error(['mutate'], 'KYM_TARGETS_MISSING', message, 'Add mutate.targets.');
}
