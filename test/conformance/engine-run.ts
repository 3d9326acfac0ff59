import type { RequestUser } from '../../src/engine/request.ts';
import { type JsonObject, mutate, type PolicySet, type Result } from '../../src/index.ts';
import { isObject } from '../../src/json/value.ts';
import type { Operation } from '../../src/policy/compiled.ts';
import type { CaseUser } from './case.ts';
import { clusterOf } from './cluster.ts';
import { valuesFor } from './values.ts';

/** What surrounds an object when it is run through policies. */
export interface Surroundings {
  readonly operation?: Operation | undefined;
  readonly oldObject?: JsonObject | undefined;
  readonly subresource?: string | undefined;
  readonly userInfo?: CaseUser | undefined;
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
  readonly values?: JsonObject | undefined;
  readonly objects?: readonly JsonObject[] | undefined;
  readonly now?: string | undefined;
}

/** Runs one object through the policies of a set. */
export function runObject(object: JsonObject, set: PolicySet, surroundings: Surroundings): Promise<Result> {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const values = valuesFor(surroundings.values, String(metadata['name'] ?? ''));
  const namespaceLabels = new Map(values.namespaceLabels);
  if (surroundings.namespaceLabels) {
    namespaceLabels.set(String(metadata['namespace'] ?? ''), surroundings.namespaceLabels);
  }
  const now = new Date(surroundings.now ?? '2024-01-02T03:04:05Z');
  return mutate(object, set, {
    operation: surroundings.operation ?? operationIn(values.request) ?? 'CREATE',
    ...(surroundings.oldObject ? { oldObject: surroundings.oldObject } : {}),
    ...(surroundings.subresource ? { subresource: surroundings.subresource } : {}),
    user: userOf(surroundings.userInfo ?? {}),
    bindings: values.bindings,
    variables: values.request,
    dataSource: clusterOf(surroundings.objects ?? [], namespaceLabels),
    environment: { now: () => now, random: () => 0 },
    explain: true,
  });
}

function operationIn(request: JsonObject): Operation | undefined {
  const { operation } = request;
  return typeof operation === 'string' ? (operation as Operation) : undefined;
}

function userOf(user: CaseUser): RequestUser {
  return {
    info: { username: user.username ?? '', groups: user.groups ?? [] },
    roles: user.roles ?? [],
    clusterRoles: user.clusterRoles ?? [],
  };
}
