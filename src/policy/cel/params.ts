import type { Value } from '../../cel/value/value.ts';
import { compileLabelSelector } from '../../expression/label-selector.ts';
import { labelsOf, nameOf } from '../../json/metadata.ts';
import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import type { Reporter } from '../../problem.ts';
import { isNamespacedKind } from '../cluster-scoped-kinds.ts';
import type { CelFailure, CelHost, CelSkip } from '../compiled-cel.ts';
import { resourceOf } from '../resource-name.ts';
import { apiPath } from './scope.ts';

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface CompiledParams {
  /** The parameters of a request, sorted by name. */
  find(
    host: CelHost,
  ): { readonly values: readonly Value[] } | { readonly failure: CelFailure } | { readonly skip: CelSkip };
}

const path = ['spec', 'paramRef'];

/** Compiles `paramRef`. Undefined when the binding has none: `params` is null then. */
export function compileParams(
  reference: JsonObject | undefined,
  paramKind: ParamKind | undefined,
  reporter: Reporter,
): CompiledParams | undefined {
  if (reference === undefined) return undefined;
  if (paramKind === undefined) {
    reporter.warn(
      path,
      'KYM_FIELD_CONFLICT',
      'the policy has no paramKind, so the API server ignores paramRef',
      'Remove paramRef, or add paramKind to the policy.',
    );
    return undefined;
  }
  const name = readText(reference, 'name') ?? '';
  const selection = read(reference, 'selector');
  const selector =
    selection === undefined
      ? undefined
      : compileLabelSelector(selection, [...path, 'selector'], reporter, { wildcards: false });
  const namespace = readText(reference, 'namespace') ?? '';
  const { apiVersion, kind } = paramKind;
  if (namespace !== '' && isNamespacedKind(apiVersion, kind) === false) {
    reporter.error(
      [...path, 'namespace'],
      'KYM_FIELD_CONFLICT',
      `${kind} has no namespace`,
      'Remove the namespace.',
    );
    return undefined;
  }
  const failed = (detail: string) => ({ failure: { code: 'KYM_CONTEXT_FAILED', path, detail } as const });
  const nothing = (what: string) => {
    const detail = `no params found for policy binding: ${what}`;
    return readText(reference, 'parameterNotFoundAction') === 'Allow'
      ? { skip: { type: 'parameter', detail } as const }
      : failed(`${detail}; parameterNotFoundAction is Deny`);
  };
  return {
    find(host) {
      const isNamespaced = hasNamespaces(paramKind, host);
      if (namespace !== '' && !isNamespaced)
        return failed('paramRef.namespace must not be provided for a cluster-scoped paramKind');
      const space = isNamespaced ? namespace || host.request.namespace : '';
      if (isNamespaced && space === '') {
        return failed(
          `cannot use namespaced paramRef ${kind} for a cluster-scoped request without a namespace`,
        );
      }
      const what = `${kind} ${space === '' ? '' : `${space}/`}${name || '(by labels)'}`;
      const urlPath = apiPath(apiVersion, resourceOf(kind), space, name === '' ? undefined : name);
      const answer = host.read({ type: 'apiCall', method: 'GET', urlPath });
      if (!answer.found) return answer.absent === true ? nothing(what) : failed(answer.error);
      if (!isObject(answer.value)) return nothing(what);
      if (selector === undefined) return { values: [answer.value as Value] };
      const items = readObjects(answer.value, 'items')
        .filter((item) => selector.matches(labelsOf(item)))
        .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      return items.length === 0
        ? nothing(what)
        : { values: items.map((item) => withType(item, paramKind) as Value) };
    },
  };
}

/** Custom kinds have the scope of their CustomResourceDefinition. Without it they count as namespaced. */
function hasNamespaces({ apiVersion, kind }: ParamKind, host: CelHost): boolean {
  const slash = apiVersion.indexOf('/');
  if (slash !== -1 && !Object.hasOwn(mergeKinds, `${apiVersion}/${kind}`)) {
    const answer = host.read({
      type: 'object',
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
      name: `${resourceOf(kind)}.${apiVersion.slice(0, slash)}`,
    });
    const definition = answer.found && isObject(answer.value) ? answer.value : undefined;
    if (definition !== undefined)
      return readText(readObject(definition, 'spec') ?? {}, 'scope') !== 'Cluster';
  }
  return isNamespacedKind(apiVersion, kind) ?? true;
}

/** Items of lists come without their type. */
function withType(item: JsonObject, { apiVersion, kind }: ParamKind): JsonObject {
  return { apiVersion, kind, ...item };
}
