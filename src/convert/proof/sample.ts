import type { DataSource } from '../../engine/context/data-source.ts';
import type { RequestUser } from '../../engine/request.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledException, CompiledPolicy, Operation } from '../../policy/compiled.ts';

/** One form of a policy. */
export interface Form {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions?: readonly CompiledException[] | undefined;
}

/** A request on which two forms of a policy are compared. */
export interface Sample {
  /** Where it comes from: a file, a test, or what was varied. */
  readonly origin: string;
  readonly object: JsonObject;
  readonly operation: Operation;
  readonly oldObject?: JsonObject | undefined;
  readonly user?: RequestUser | undefined;
  readonly namespaceLabels: JsonObject;
  /** Answers lookups of policies. */
  readonly dataSource?: DataSource | undefined;
  /** Objects that exist beside the one of the request. Without them, objects that the policy looks for are generated. */
  readonly existing?: readonly JsonObject[] | undefined;
}

/** Somebody always sends a request. */
export const defaultUser: RequestUser = {
  info: { username: 'alice', groups: ['developers', 'system:authenticated'] },
  roles: [],
  clusterRoles: [],
};
