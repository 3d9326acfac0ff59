import type { RequestUser } from '../../src/engine/request.ts';
import { type JsonObject, mutate, type PolicySet, type Result } from '../../src/index.ts';
import { createInputDataSource } from '../../src/offline/data-source.ts';
import { nameOf, namespaceOf } from '../../src/offline/object-identity.ts';
import { createValuesLookup } from '../../src/offline/request-values.ts';
import { parseValues } from '../../src/offline/values-document.ts';
import type { Operation } from '../../src/policy/compiled.ts';
import type { CaseUser } from './case.ts';

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
  const document = surroundings.values && parseValues(surroundings.values, 'values').values;
  const [firstPolicy] = set.policies;
  const { bindings, variables, operation } = createValuesLookup(document).forObject(
    firstPolicy,
    nameOf(object),
  );
  const namespaces = new Map(document?.namespaces);
  if (surroundings.namespaceLabels) namespaces.set(namespaceOf(object), surroundings.namespaceLabels);
  const now = new Date(surroundings.now ?? '2024-01-02T03:04:05Z');
  const environment = { now: () => now, random: () => 0 };
  return mutate(object, set, {
    operation: surroundings.operation ?? operation ?? 'CREATE',
    ...(surroundings.oldObject ? { oldObject: surroundings.oldObject } : {}),
    ...(surroundings.subresource ? { subresource: surroundings.subresource } : {}),
    ...(bindings ? { bindings } : {}),
    user: userOf(surroundings.userInfo ?? {}),
    variables,
    dataSource: createInputDataSource(surroundings.objects ?? [], environment, { namespaces }),
    environment,
    explain: true,
  });
}

function userOf(user: CaseUser): RequestUser {
  return {
    info: { username: user.username ?? '', groups: user.groups ?? [] },
    roles: user.roles ?? [],
    clusterRoles: user.clusterRoles ?? [],
  };
}
