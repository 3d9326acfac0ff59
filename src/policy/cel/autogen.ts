import { read, readList, readObject, readObjects, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

/** The rule that is derived from a Pod policy for some controllers. */
export interface AutogenVariant {
  readonly name: 'autogen-defaults' | 'autogen-cronjobs';
  /** Fields that lead to the Pod template. */
  readonly template: readonly string[];
  readonly constraints: JsonObject;
}

const appsControllers = ['daemonsets', 'deployments', 'replicasets', 'statefulsets'];
const known: ReadonlySet<string> = new Set([...appsControllers, 'jobs', 'cronjobs']);

/** Controllers that the policy names but that cannot be translated. */
export function unknownControllers(spec: JsonObject): readonly string[] {
  return (controllersOf(spec) ?? []).filter((name) => !known.has(name));
}

/** Undefined when the policy does not say, which means all. */
function controllersOf(spec: JsonObject): readonly string[] | undefined {
  const pods = readObject(readObject(spec, 'autogen') ?? {}, 'podControllers') ?? {};
  return read(pods, 'controllers') === undefined ? undefined : readTexts(pods, 'controllers');
}

export function autogenVariants(spec: JsonObject): readonly AutogenVariant[] {
  const constraints = readObject(spec, 'matchConstraints') ?? {};
  const rule = podRule(constraints);
  if (rule === undefined) return [];
  const wanted = controllersOf(spec) ?? [...known];
  const apps = appsControllers.filter((name) => wanted.includes(name));
  const jobs = ['jobs'].filter((name) => wanted.includes(name));
  const operations = readList(rule, 'operations');
  const rules = [
    ...(apps.length === 0 ? [] : [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: apps, operations }]),
    ...(jobs.length === 0
      ? []
      : [{ apiGroups: ['batch'], apiVersions: ['v1'], resources: jobs, operations }]),
  ];
  const cron = [{ apiGroups: ['batch'], apiVersions: ['v1'], resources: ['cronjobs'], operations }];
  const variants: AutogenVariant[] = [];
  if (rules.length > 0) {
    variants.push({
      name: 'autogen-defaults',
      template: ['spec', 'template'],
      constraints: { ...constraints, resourceRules: rules },
    });
  }
  if (wanted.includes('cronjobs')) {
    variants.push({
      name: 'autogen-cronjobs',
      template: ['spec', 'jobTemplate', 'spec', 'template'],
      constraints: { ...constraints, resourceRules: cron },
    });
  }
  return variants;
}

/** The only rule, if it is for Pods and nothing else limits it. */
function podRule(constraints: JsonObject): JsonObject | undefined {
  const rules = readObjects(constraints, 'resourceRules');
  const [rule] = rules;
  if (rules.length !== 1 || rule === undefined) return undefined;
  const isOnly = (field: string, value: string): boolean => {
    const texts = readTexts(rule, field);
    return texts.length === 1 && texts[0] === value;
  };
  const isPodRule = isOnly('apiGroups', '') && isOnly('apiVersions', 'v1') && isOnly('resources', 'pods');
  const isLimited =
    readList(rule, 'resourceNames').length > 0 ||
    selects(readObject(constraints, 'objectSelector') ?? {}) ||
    readList(constraints, 'excludeResourceRules').length > 0;
  return isPodRule && !isLimited ? rule : undefined;
}

/** An empty selector selects every object. */
function selects(selector: JsonObject): boolean {
  const labels = Object.keys(readObject(selector, 'matchLabels') ?? {});
  return labels.length > 0 || readList(selector, 'matchExpressions').length > 0;
}
