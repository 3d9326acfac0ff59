import { hasVariable } from '../../expression/template/tokens.ts';
import { readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type JsonObject, type Path } from '../../json/value.ts';
import { allowNamespacedAnnotation, serviceOf } from '../../policy/policy-scope.ts';
import type { Reporter } from '../../problem.ts';
import { reportDifference } from './difference.ts';

/** Reports context entries of a namespaced Policy that Kymera limits to its namespace and Kyverno does not. */
export function adviseOnNamespaceScope(
  rule: JsonObject,
  namespace: string | undefined,
  reporter: Reporter,
): void {
  for (const { entry, path } of contextEntries(rule, [])) {
    if (readObject(entry, 'globalReference') !== undefined) {
      const message = `a namespaced Policy reads a GlobalContextEntry only with the annotation ${allowNamespacedAnnotation}: "true" on the entry`;
      reportDifference(reporter, [...path, 'globalReference'], 'globalReference', message);
    }
    const service = readObject(readObject(entry, 'apiCall') ?? {}, 'service');
    if (service !== undefined && !isOwnService(readText(service, 'url') ?? '', namespace)) {
      const message = 'a namespaced Policy calls only Services in its own namespace';
      const advice = 'Other hosts must be allowed with --allow-host-namespaced.';
      reportDifference(reporter, [...path, 'apiCall', 'service', 'url'], 'serviceCalls', message, advice);
    }
  }
}

function isOwnService(url: string, namespace: string | undefined): boolean {
  const [, host = ''] = /^https?:\/\/([^/:?#]+)/.exec(url) ?? [];
  return namespace !== undefined && !hasVariable(host) && serviceOf(host)?.namespace === namespace;
}

/** The context entries of a rule, its targets and loops. */
function* contextEntries(holder: JsonObject, path: Path): Generator<{ entry: JsonObject; path: Path }> {
  for (const [index, entry] of readList(holder, 'context').entries()) {
    if (isObject(entry)) yield { entry, path: [...path, 'context', index] };
  }
  for (const field of ['targets', 'foreach']) {
    for (const [index, inner] of readObjects(holder, field).entries()) {
      yield* contextEntries(inner, [...path, field, index]);
    }
  }
  for (const field of ['mutate', 'generate']) {
    const inner = readObject(holder, field);
    if (inner !== undefined) yield* contextEntries(inner, [...path, field]);
  }
}
