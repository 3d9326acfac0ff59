import { requestFor } from '../../admission/resource-request.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import { mutate } from '../../engine/mutate.ts';
import type { RequestUser } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import { equal } from '../../json/equal.ts';
import type { JsonObject } from '../../json/value.ts';
import type { Operation } from '../../policy/compiled.ts';
import type { PolicySnapshot } from '../../policy/registry/registry.ts';
import { refOf } from '../object-identity.ts';
import { type ObjectStore, StoreError } from '../ports.ts';

/** A completed write, as the API server would send it to webhooks. */
export interface AdmittedWrite {
  readonly operation: Operation;
  readonly object: JsonObject;
  readonly oldObject: JsonObject | undefined;
}

export interface Admission {
  readonly snapshot: PolicySnapshot;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  /** The user that writes the objects. */
  readonly user: RequestUser;
  onWrite(write: AdmittedWrite): void;
}

/**
 * Wraps a store so that writes pass through admission first, as in a cluster. Mutate rules change the object, and a failed
 * rule denies the write. A write without a change is dropped.
 */
export function withAdmission(store: ObjectStore, admission: Admission): ObjectStore {
  const { snapshot, dataSource, environment, user, onWrite } = admission;

  async function admit(operation: Operation, object: JsonObject, oldObject: JsonObject | undefined) {
    const request = requestFor(object, {
      operation,
      user,
      oldObject,
    });
    const result = await mutate(request, snapshot, { dataSource, environment });
    const denying = result.failedPolicies.find(({ failurePolicy }) => failurePolicy === 'Fail');
    if (denying !== undefined) {
      const failure = result.outcomes.find(({ policy, status }) => policy === denying && status === 'failed');
      throw new StoreError('invalid', `denied by policy ${denying.key}:  ${failure?.message ?? ''}`);
    }
    return result.object ?? object;
  }

  return {
    ...store,
    async create(object) {
      const stored = await store.create(await admit('CREATE', object, undefined));
      onWrite({ operation: 'CREATE', object: stored, oldObject: undefined });
      return stored;
    },
    async update(before, after, ref) {
      if (ref?.subresource !== undefined) return store.update(before, after, ref);
      const oldObject = await store.get(refOf(after));
      const admitted = await admit('UPDATE', after, oldObject);
      if (oldObject !== undefined && equal(oldObject, admitted)) return oldObject;
      const stored = await store.update(before, admitted);
      onWrite({ operation: 'UPDATE', object: stored, oldObject });
      return stored;
    },
    async remove(ref) {
      const oldObject = await store.get(ref);
      await store.remove(ref);
      if (oldObject !== undefined) onWrite({ operation: 'DELETE', object: oldObject, oldObject });
    },
  };
}
