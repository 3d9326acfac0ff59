import { hasVariable } from '../../expression/template/tokens.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import type { CompiledBlock, CompiledFilter } from '../compiled.ts';
import { compileKind } from '../kind-selector.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { literalWrites, patchDocuments } from './patch-writes.ts';

const places = ['kind', 'apiVersion', 'metadata.name', 'metadata.namespace'] as const;
type Place = (typeof places)[number];

/**
 * Kubernetes does not allow changes to the identity of an object. A literal that no object of this rule can have is
 * rejected at load; values that depend on the object are checked when the rule runs.
 */
export function checkIdentity(
  rule: JsonObject,
  match: CompiledFilter | undefined,
  facts: PolicyFacts,
  reporter: Reporter,
): void {
  const mutate = readObject(rule, 'mutate') ?? {};
  const targets = read(mutate, 'targets') === undefined ? undefined : readObjects(mutate, 'targets');
  for (const patch of patchDocuments(mutate, ['mutate'])) {
    for (const { path, place, value } of literalWrites(patch, places)) {
      if (isPossible(place as Place, value, match, targets, facts)) continue;
      const change = value === null ? `removes ${place}` : `sets ${place} to ${stringifyJson(value)}`;
      const message = `the patch ${change}, which no object of this rule has: Kubernetes rejects the change`;
      reporter.error(path, 'KYM_IDENTITY_WRITE', message, `Remove ${place} from the patch.`);
    }
  }
}

function isPossible(
  place: Place,
  value: unknown,
  match: CompiledFilter | undefined,
  targets: readonly JsonObject[] | undefined,
  facts: PolicyFacts,
): boolean {
  // Cluster-scoped objects have no namespace.
  if (value === null) return place === 'metadata.namespace';
  if (typeof value !== 'string') return false;
  if (place === 'metadata.namespace' && facts.namespace !== undefined) return value === facts.namespace;
  if (targets !== undefined) return targets.some((target) => targetAllows(target, place, value));
  if (match?.all !== undefined) return match.all.every((block) => blockAllows(block, place, value));
  return match?.any === undefined || match.any.some((block) => blockAllows(block, place, value));
}

function blockAllows(block: CompiledBlock, place: Place, value: string): boolean {
  switch (place) {
    case 'kind':
      return block.kinds?.some((kind) => kind.subresource.pattern !== '' || kind.kind.matches(value)) ?? true;
    case 'apiVersion':
      return block.kinds?.some((kind) => kind.subresource.pattern !== '' || isVersionOf(kind, value)) ?? true;
    case 'metadata.name':
      return block.names?.some((name) => name.matches(value)) ?? true;
    case 'metadata.namespace':
      return block.namespaces?.some((namespace) => namespace.matches(value)) ?? true;
  }
}

function isVersionOf(
  kind: Pick<NonNullable<ReturnType<typeof compileKind>>, 'group' | 'version'>,
  apiVersion: string,
) {
  const slash = apiVersion.indexOf('/');
  return (
    kind.group.matches(apiVersion.slice(0, Math.max(slash, 0))) &&
    kind.version.matches(apiVersion.slice(slash + 1))
  );
}

function targetAllows(target: JsonObject, place: Place, value: string): boolean {
  const written = readText(target, place.replace('metadata.', '')) ?? '';
  if (written === '' || hasVariable(written)) return true;
  if (place !== 'kind') return compileWildcard(written).matches(value);
  const kind = compileKind(written);
  return kind === undefined || kind.subresource.pattern !== '' || kind.kind.matches(value);
}
