import { hasWildcard } from '../expression/wildcard.ts';
import { read, readList, readObject, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { StructuredSchema } from '../patch/structured/schema.ts';
import { isNamespacedKind } from '../policy/cluster-scoped-kinds.ts';
import { resourceOf } from '../policy/resource-name.ts';
import { literal, quote, text } from './expression/cel-text.ts';
import { translateConditions } from './expression/conditions.ts';
import { translateContext } from './expression/context.ts';
import { translateTemplate } from './expression/template.ts';
import { wildcardTest } from './expression/wildcard.ts';
import { hasVariables } from './mutation/value.ts';
import { type CelText, NotConvertible, type Scope } from './types.ts';

export interface ConvertedTargets {
  readonly constraints: JsonObject;
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
  /** The scope of the patch, in which `target` is the object. */
  readonly scope: Scope;
}

/**
 * Translates the target of a rule for existing objects. A target that depends on the trigger becomes an expression, and so does one
 * whose patch reads the trigger: then each existing trigger is used when the policy changes.
 */
export function translateTarget(
  target: JsonObject,
  path: string,
  scope: Scope,
  schema: StructuredSchema | undefined,
  readsTrigger: boolean,
): ConvertedTargets {
  const place = readPlace(target, path, scope);
  const bound = scope.child(new Map([['target', { ...text('object', 'dyn'), schema, total: true }]]));
  const context = readList(target, 'context');
  const inner = context.length === 0 ? bound : translateContext(context, `${path}.context`, bound);
  const conditions = [...place.conditions];
  const preconditions = read(target, 'preconditions');
  if (preconditions !== undefined) {
    const expression = translateConditions(preconditions, `${path}.preconditions`, inner).source;
    conditions.push({ name: 'target-preconditions', expression });
  }
  const constraints =
    place.isStatic && !readsTrigger
      ? staticConstraints(target, place)
      : { expression: lookup(target, place, path) };
  return { constraints, conditions, scope: inner };
}

interface TargetPlace {
  readonly apiVersion: string;
  readonly resource: string;
  readonly namespace: CelText;
  readonly name: CelText;
  /** Constant name and namespace. */
  readonly isStatic: boolean;
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
}

/** Wildcards in names and namespaces become conditions. */
function readPlace(target: JsonObject, path: string, scope: Scope): TargetPlace {
  const [apiVersion, kind] = ['apiVersion', 'kind'].map((field) => {
    const value = readText(target, field) ?? '';
    if (value === '' || hasVariables(value) || hasWildcard(value)) {
      throw new NotConvertible(`${path}.${field}`, `the ${field} of the target is not constant`);
    }
    return value;
  }) as [string, string];
  if (read(target, 'uid') !== undefined)
    throw new NotConvertible(`${path}.uid`, 'targets cannot be selected by uid');
  const [plainKind = '', subresource = ''] = kind.split(/[/.]/);
  if (subresource !== '') throw new NotConvertible(`${path}.kind`, 'the target is a subresource');
  const conditions: { name: string; expression: string }[] = [];
  const field = (name: 'name' | 'namespace'): CelText => {
    const value = readText(target, name) ?? '';
    if (!hasWildcard(value) || hasVariables(value)) return translateTemplate(value, `${path}.${name}`, scope);
    const subject = text(`object.metadata.${name}`, 'string');
    if (!/^\*+$/.test(value))
      conditions.push({ name: `target-${name}`, expression: wildcardTest(subject, value).source });
    return text("''", 'string');
  };
  const [name, namespace] = [field('name'), field('namespace')];
  const isStatic = !hasVariables([readText(target, 'name') ?? '', readText(target, 'namespace') ?? '']);
  if (isNamespacedKind(apiVersion, plainKind) === true && name.source !== "''" && namespace.source === "''") {
    // A name without a namespace selects objects in all namespaces.
    conditions.push({ name: 'target-name', expression: `object.metadata.name == ${name.source}` });
    return {
      apiVersion,
      resource: resourceOf(plainKind),
      namespace,
      name: text("''", 'string'),
      isStatic,
      conditions,
    };
  }
  return { apiVersion, resource: resourceOf(plainKind), namespace, name, isStatic, conditions };
}

function staticConstraints(
  target: JsonObject,
  { apiVersion, resource, namespace, name }: TargetPlace,
): JsonObject {
  const slash = apiVersion.indexOf('/');
  const selector = readObject(target, 'selector');
  const isEmpty = ({ source }: CelText): boolean => source === "''";
  return {
    resourceRules: [
      {
        apiGroups: [apiVersion.slice(0, Math.max(slash, 0))],
        apiVersions: [apiVersion.slice(slash + 1)],
        resources: [resource],
        operations: ['*'],
        ...(!isEmpty(name) && { resourceNames: [readText(target, 'name') ?? ''] }),
      },
    ],
    ...(!isEmpty(namespace) && {
      namespaceSelector: {
        matchLabels: { 'kubernetes.io/metadata.name': readText(target, 'namespace') ?? '' },
      },
    }),
    ...(selector !== undefined && { objectSelector: selector }),
  };
}

function lookup(
  target: JsonObject,
  { apiVersion, resource, namespace, name }: TargetPlace,
  path: string,
): string {
  const first = `${quote(apiVersion)}, ${quote(resource)}, ${namespace.source}`;
  const selector = readObject(target, 'selector');
  if (selector === undefined) {
    return name.source === "''" ? `resource.List(${first})` : `resource.Get(${first}, ${name.source})`;
  }
  const labels = readObject(selector, 'matchLabels');
  const isPlain = labels !== undefined && Object.keys(selector).length === 1 && !hasVariables(labels);
  if (!isPlain || name.source !== "''") {
    throw new NotConvertible(`${path}.selector`, 'only constant labels select the targets of a trigger');
  }
  return `resource.List(${first}, ${literal(labels, path).source})`;
}
