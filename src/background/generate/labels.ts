import { createHash } from 'node:crypto';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { groupVersionOf, stringLabelsOf } from '../object-identity.ts';
import type { ObjectRef } from '../ports.ts';

export const labelPrefix = 'generate.kyverno.io/';
const managedBy = 'app.kubernetes.io/managed-by';
const manager = 'kyverno';

type Labels = Readonly<Record<string, string>>;

/** Labels that name the policy and rule of a generated object, as Kyverno writes them. */
export function ruleLabels({ name, namespace = '' }: PolicyName, rule: string): Labels {
  return {
    [managedBy]: manager,
    [`${labelPrefix}policy-name`]: labelValue(name),
    [`${labelPrefix}policy-namespace`]: namespace,
    [`${labelPrefix}rule-name`]: labelValue(rule),
  };
}

type PolicyName = Pick<CompiledPolicy, 'name' | 'namespace'>;

/** Labels that name the trigger. */
export function triggerLabels(trigger: ObjectRef): Labels {
  return { ...originLabels('trigger', trigger), [`${labelPrefix}trigger-name`]: labelValue(trigger.name) };
}

/** Labels that name the clone source. */
export function sourceLabels(source: ObjectRef): Labels {
  return { ...originLabels('source', source), [`${labelPrefix}source-name`]: labelValue(source.name) };
}

function originLabels(
  role: 'trigger' | 'source',
  { apiVersion, kind, namespace, uid = '' }: ObjectRef,
): Labels {
  const { group, version } = groupVersionOf(apiVersion);
  return {
    [`${labelPrefix}${role}-group`]: group,
    [`${labelPrefix}${role}-version`]: version,
    [`${labelPrefix}${role}-kind`]: kind,
    [`${labelPrefix}${role}-namespace`]: namespace,
    [`${labelPrefix}${role}-uid`]: uid,
  };
}

/** The origin of a generated object, read from its labels. */
export interface Origin {
  /** `name`, or `namespace/name`. */
  readonly policy: string;
  /** As returned by `labelValue`. */
  readonly rule: string;
  /** The name is empty if the label was truncated; the uid identifies the trigger then. */
  readonly trigger: ObjectRef;
}

/** Undefined for an object that was not generated. */
export function originOf(object: JsonObject): Origin | undefined {
  const labels = stringLabelsOf(object);
  const read = (name: string) => labels[`${labelPrefix}${name}`] ?? '';
  const [policy, namespace, rule] = [read('policy-name'), read('policy-namespace'), read('rule-name')];
  if (labels[managedBy] !== manager || policy === '' || rule === '') return undefined;
  const [group, version, uid] = [read('trigger-group'), read('trigger-version'), read('trigger-uid')];
  const name = read('trigger-name');
  return {
    policy: namespace === '' ? policy : `${namespace}/${policy}`,
    rule,
    trigger: {
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind: read('trigger-kind'),
      namespace: read('trigger-namespace'),
      name: isTruncated(name) ? '' : name,
      uid: uid === '' ? undefined : uid,
    },
  };
}

const maxLength = 63;
const valid = /^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;
const hashLength = 10;
/** Kubernetes names never contain it. */
const hashSeparator = '_x';
const hashSuffix = new RegExp(`${hashSeparator}[0-9a-f]{${hashLength}}$`);

/** A valid label value for a string. Invalid or long strings are truncated and made unique by a hash. */
export function labelValue(text: string): string {
  if (text.length <= maxLength && valid.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, hashLength);
  const start = text.replace(/[^A-Za-z0-9.-]/g, '-').replace(/^[^A-Za-z0-9]*/, '');
  return `${start.slice(0, maxLength - hashLength - hashSeparator.length) || 'x'}${hashSeparator}${hash}`;
}

function isTruncated(value: string): boolean {
  return hashSuffix.test(value);
}
