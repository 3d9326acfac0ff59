import { isSubdomain } from '../../expression/object-name.ts';
import {
  read,
  readBoolean,
  readList,
  readObject,
  readObjects,
  readText,
  readTextMap,
} from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { autogenAnnotation } from '../autogen.ts';
import { checkMetadataTypes } from './metadata.ts';

/** Checks of the whole policy that Kyverno makes at install. */
export function checkPolicy(document: JsonObject, reporter: Reporter): void {
  const metadata = readObject(document, 'metadata') ?? {};
  const spec = readObject(document, 'spec') ?? {};
  checkMetadata(document, metadata, reporter);
  checkAliases(spec, reporter);
  checkSwitches(spec, reporter);
  checkRuleNames(spec, reporter);
  if (
    readText(document, 'kind') === 'Policy' &&
    readList(spec, 'validationFailureActionOverrides').length > 0
  ) {
    const path = ['spec', 'validationFailureActionOverrides'];
    reporter.error(
      path,
      'KYM_FIELD_CONFLICT',
      'only a ClusterPolicy can have validationFailureActionOverrides',
    );
  }
}

function checkMetadata(document: JsonObject, metadata: JsonObject, reporter: Reporter): void {
  const name = readText(metadata, 'name') ?? '';
  if (name === '') reporter.error(['metadata'], 'KYM_FIELD_MISSING', 'the policy has no name');
  if (name.length > 63) {
    reporter.error(['metadata', 'name'], 'KYM_FIELD_VALUE', `more than 63 characters: ${name}`);
  }
  if (name !== '' && name.length <= 63 && !isSubdomain(name)) {
    reporter.warn(
      ['metadata', 'name'],
      'KYM_FIELD_VALUE',
      `the API server refuses the name ${JSON.stringify(name)}`,
      'Use lower-case letters, digits, "-" and "."; begin and end with a letter or a digit.',
    );
  }
  if (readText(document, 'kind') === 'ClusterPolicy' && (readText(metadata, 'namespace') ?? '') !== '') {
    const message = 'a ClusterPolicy has no namespace';
    reporter.error(['metadata', 'namespace'], 'KYM_POLICY_SCOPE', message, 'Remove it, or use kind: Policy.');
  }
  checkMetadataTypes(metadata, reporter);
  if (readTextMap(metadata, 'annotations')[autogenAnnotation] === 'all') {
    const path = ['metadata', 'annotations', autogenAnnotation];
    reporter.warn(
      path,
      'KYM_FIELD_VALUE',
      'all is the default without the annotation',
      'Remove the annotation: Kyverno rejects it.',
    );
  }
}

function checkAliases(spec: JsonObject, reporter: Reporter): void {
  const webhook = readObject(spec, 'webhookConfiguration') ?? {};
  for (const [old, current] of [
    ['webhookTimeoutSeconds', 'timeoutSeconds'],
    ['failurePolicy', 'failurePolicy'],
  ] as const) {
    if (read(spec, old) === undefined || read(webhook, current) === undefined) continue;
    const message = `${old} and webhookConfiguration.${current} cannot both be set`;
    reporter.error(['spec', old], 'KYM_FIELD_CONFLICT', message, `Remove ${old}, which is deprecated.`);
  }
  if (read(spec, 'generateExistingOnPolicyUpdate') !== undefined) {
    const message = 'generateExistingOnPolicyUpdate is no longer supported';
    reporter.error(
      ['spec', 'generateExistingOnPolicyUpdate'],
      'KYM_FIELD_CONFLICT',
      message,
      'Use generate.generateExisting.',
    );
  }
}

const admissionTypes = ['mutate', 'generate', 'verifyImages'] as const;

function checkSwitches(spec: JsonObject, reporter: Reporter): void {
  if (readBoolean(spec, 'admission') !== false) return;
  if (readBoolean(spec, 'background') === false) {
    reporter.error(
      ['spec', 'admission'],
      'KYM_POLICY_SCOPE',
      'admission and background cannot both be false',
    );
  } else if (
    readObjects(spec, 'rules').some((rule) => admissionTypes.some((type) => read(rule, type) !== undefined))
  ) {
    reporter.error(['spec', 'admission'], 'KYM_POLICY_SCOPE', 'only validate rules can disable admission');
  }
}

function checkRuleNames(spec: JsonObject, reporter: Reporter): void {
  const names = new Set<string>();
  readObjects(spec, 'rules').forEach((rule, index) => {
    const name = readText(rule, 'name');
    if (name === undefined) return;
    if (names.has(name)) {
      const message = `another rule already has the name ${JSON.stringify(name)}`;
      reporter.error(
        ['spec', 'rules', index, 'name'],
        'KYM_RULE_NAME',
        message,
        'Rule names must be unique within a policy.',
      );
    }
    names.add(name);
  });
}
