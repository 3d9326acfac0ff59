import { requestFor } from '../../src/admission/resource-request.ts';
import { mutate } from '../../src/engine/mutate.ts';
import type { Result } from '../../src/engine/outcome.ts';
import type { RequestUser } from '../../src/engine/request.ts';
import { isObject, type JsonObject } from '../../src/json/value.ts';
import type { CompiledException, CompiledPolicy, Operation } from '../../src/policy/compiled.ts';
import { createSnapshot } from '../../src/policy/registry.ts';
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
  readonly exceptions?: readonly CompiledException[] | undefined;
  readonly objects?: readonly JsonObject[] | undefined;
  readonly now?: string | undefined;
}

/** Runs one object through the policies, in the order given. */
export function runObject(
  object: JsonObject,
  policies: readonly CompiledPolicy[],
  surroundings: Surroundings,
): Promise<Result> {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const values = valuesFor(surroundings.values, String(metadata['name'] ?? ''));
  const namespaceLabels = new Map(values.namespaceLabels);
  if (surroundings.namespaceLabels) {
    namespaceLabels.set(String(metadata['namespace'] ?? ''), surroundings.namespaceLabels);
  }
  const request = requestFor(object, {
    operation: surroundings.operation ?? operationIn(values.request) ?? 'CREATE',
    ...(surroundings.oldObject ? { oldObject: surroundings.oldObject } : {}),
    ...(surroundings.subresource ? { subresource: surroundings.subresource } : {}),
    user: userOf(surroundings.userInfo ?? {}),
    bindings: values.bindings,
    variables: values.request,
  });
  const now = new Date(surroundings.now ?? '2024-01-02T03:04:05Z');
  return mutate(request, createSnapshot(policies, surroundings.exceptions ?? []), {
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
