import { createHash } from 'node:crypto';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { groupVersionOf, labelsOf } from '../object-identity.ts';
import type { ObjectRef } from '../ports.ts';

export const labelPrefix = 'generate.kyverno.io/';
const managedBy = 'app.kubernetes.io/managed-by';
const manager = 'kyverno';

type Labels = Readonly<Record<string, string>>;

/** Which policy and rule made an object: the labels that Kyverno uses. */
export function ruleLabels({ name, namespace = '' }: PolicyName, rule: string): Labels {
  return {
    [managedBy]: manager,
    [`${labelPrefix}policy-name`]: labelValue(name),
    [`${labelPrefix}policy-namespace`]: namespace,
    [`${labelPrefix}rule-name`]: labelValue(rule),
  };
}

type PolicyName = Pick<CompiledPolicy, 'name' | 'namespace'>;

/** What it was made for. */
export function triggerLabels(trigger: ObjectRef): Labels {
  return { ...placeLabels('trigger', trigger), [`${labelPrefix}trigger-name`]: labelValue(trigger.name) };
}

/** What it is a copy of. */
export function sourceLabels(source: ObjectRef): Labels {
  return { ...placeLabels('source', source), [`${labelPrefix}source-name`]: labelValue(source.name) };
}

function placeLabels(
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

/** Where a generated object comes from, as its labels say. */
export interface Origin {
  /** `name`, or `namespace/name`. */
  readonly policy: string;
  /** As `labelValue` gives it. */
  readonly rule: string;
  /** Its name is empty where the label does not tell it: then its uid does. */
  readonly trigger: ObjectRef;
}

/** Undefined for an object that no rule made. */
export function originOf(object: JsonObject): Origin | undefined {
  const labels = labelsOf(object);
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
      // A name that was cut is of no use.
      name: isCut(name) ? '' : name,
      ...(uid === '' ? {} : { uid }),
    },
  };
}

const longest = 63;
const valid = /^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;
const hashLength = 10;
/** No name in Kubernetes holds it. */
const cutMark = '_x';
const cutEnd = new RegExp(`${cutMark}[0-9a-f]{${hashLength}}$`);

/** A text as the value of a label; one that cannot be is cut, and told apart by a hash. */
export function labelValue(text: string): string {
  if (text.length <= longest && valid.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, hashLength);
  const start = text.replace(/[^A-Za-z0-9.-]/g, '-').replace(/^[^A-Za-z0-9]*/, '');
  return `${start.slice(0, longest - hashLength - cutMark.length) || 'x'}${cutMark}${hash}`;
}

function isCut(value: string): boolean {
  return cutEnd.test(value);
}
