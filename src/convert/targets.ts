import { hasWildcard } from '../expression/wildcard.ts';
import { read, readList, readObject, readText } from '../json/read-field.ts';
import { isObject, type JsonObject } from '../json/value.ts';
import type { StructuredSchema } from '../patch/structured/schema.ts';
import { isNamespacedKind } from '../policy/cluster-scoped-kinds.ts';
import { resourceOf } from '../policy/resource-name.ts';
import { allOf, quote, text } from './expression/cel-text.ts';
import { translateConditions } from './expression/conditions.ts';
import { translateContext } from './expression/context.ts';
import { translateTemplate } from './expression/template.ts';
import { wildcardTest } from './expression/wildcard.ts';
import { selectorTests } from './match/clauses.ts';
import { hasVariables } from './mutation/value.ts';
import { type CelText, NotConvertible, type Scope } from './types.ts';

export interface ConvertedTargets {
  readonly constraints: JsonObject;
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
  /** The scope of the patch, in which `target` is the object. */
  readonly scope: Scope;
}

export interface TargetOptions {
  readonly schema: StructuredSchema | undefined;
  /** The patch reads the trigger. */
  readonly readsTrigger: boolean;
  /** The rule also runs when the policy changes. */
  readonly onPolicyUpdate: boolean;
}

/** Kyverno makes the request of a run without a trigger, and names no user in it. */
const onlyRequests = { name: 'only-requests', expression: "request.userInfo.?username.orValue('') != ''" };

/**
 * Translates the target of a rule for existing objects. A target that depends on the trigger becomes an expression, and so does that
 * of a rule that runs when the policy changes: then each existing trigger is used in turn, and nothing happens if there is none.
 */
export function translateTarget(
  target: JsonObject,
  path: string,
  scope: Scope,
  { schema, readsTrigger, onPolicyUpdate }: TargetOptions,
): ConvertedTargets {
  const place = readPlace(target, path, scope);
  const bound = scope.child(new Map([['target', { ...text('object', 'dyn'), schema, total: true }]]));
  const context = readList(target, 'context');
  const inner = context.length === 0 ? bound : translateContext(context, `${path}.context`, bound);
  const conditions = [...(onPolicyUpdate ? [] : [onlyRequests]), ...place.conditions];
  const preconditions = read(target, 'preconditions');
  if (preconditions !== undefined) {
    const expression = translateConditions(preconditions, `${path}.preconditions`, inner).source;
    conditions.push({ name: 'target-preconditions', expression });
  }
  if (place.isStatic && !readsTrigger && !onPolicyUpdate)
    return { constraints: staticConstraints(target, place), conditions, scope: inner };
  const { expression, selector } = lookup(place, path, scope);
  if (selector !== undefined) conditions.unshift({ name: 'target-selector', expression: selector.source });
  return { constraints: { expression }, conditions, scope: inner };
}

interface TargetPlace {
  readonly apiVersion: string;
  readonly resource: string;
  readonly namespace: CelText;
  readonly name: CelText;
  /** Constant name, namespace and labels. */
  readonly isStatic: boolean;
  /** The labels of the targets. An object that is named is the target whatever its labels are. */
  readonly selector?: JsonObject | undefined;
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
  const place = { apiVersion, resource: resourceOf(plainKind), namespace, conditions };
  const [isNamed, hasNamespace] = [name.source !== "''", namespace.source !== "''"];
  const isNamespaced = isNamespacedKind(apiVersion, plainKind) === true;
  const selector = isNamed && isNamespaced === hasNamespace ? undefined : readObject(target, 'selector');
  const isStatic = !hasVariables([
    readText(target, 'name') ?? '',
    readText(target, 'namespace') ?? '',
    selector ?? null,
  ]);
  if (isNamespaced && isNamed && !hasNamespace) {
    // A name without a namespace selects objects in all namespaces.
    conditions.push({ name: 'target-name', expression: `object.metadata.name == ${name.source}` });
    return { ...place, name: text("''", 'string'), isStatic, selector };
  }
  return { ...place, name, isStatic, selector };
}

function staticConstraints(
  target: JsonObject,
  { apiVersion, resource, namespace, name, selector }: TargetPlace,
): JsonObject {
  const slash = apiVersion.indexOf('/');
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

/** The expression that reads the targets, and a test of their labels that it cannot contain. */
function lookup(
  { apiVersion, resource, namespace, name, selector = {} }: TargetPlace,
  path: string,
  scope: Scope,
): { readonly expression: string; readonly selector?: CelText | undefined } {
  const first = `${quote(apiVersion)}, ${quote(resource)}, ${namespace.source}`;
  if (name.source !== "''") return { expression: `resource.Get(${first}, ${name.source})` };
  const { matchLabels, ...others } = selector;
  const expressions = { matchExpressions: others['matchExpressions'] ?? [] };
  if (hasVariables(expressions))
    throw new NotConvertible(
      `${path}.selector.matchExpressions`,
      'the labels of the targets are not constant',
    );
  const tests = selectorTests(expressions, 'object.metadata.?labels', `${path}.selector`);
  const labels = isObject(matchLabels) && Object.keys(matchLabels).length > 0 ? matchLabels : undefined;
  const arguments_ =
    labels === undefined
      ? first
      : `${first}, ${translateTemplate(labels, `${path}.selector.matchLabels`, scope).source}`;
  return {
    expression: `resource.List(${arguments_})`,
    selector: tests.length === 0 ? undefined : allOf(tests),
  };
}
