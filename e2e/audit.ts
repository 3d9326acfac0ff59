import { readFileSync } from 'node:fs';
import { isArray, type JsonObject } from '../src/json/value.ts';
import { type Account, accountUser } from './installation.ts';

/** A request of a service account to the API server. */
export interface Asked {
  readonly verb: string;
  readonly group: string;
  /** Includes the subresource: `policies/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly isAllowed: boolean;
}

/** A verb on a resource that a role of the chart grants to an account. */
export interface Granted {
  readonly account: Account;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** The namespace of a Role; undefined for a ClusterRole. */
  readonly namespace?: string;
  /** Empty: any. */
  readonly names: readonly string[];
}

interface AuditEntry {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Partial<
    Record<'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name', string>
  >;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The resource requests of an account in this run. */
export function askedBy(account: Account, auditLog: string): readonly Asked[] {
  const user = accountUser(account);
  const asked = new Map<string, Asked>();
  for (const line of readFileSync(auditLog, 'utf8').split('\n')) {
    if (!line.includes(user)) continue;
    const { verb, user: by, objectRef, annotations } = JSON.parse(line) as AuditEntry;
    if (by.username !== user || objectRef?.resource === undefined) continue;
    const { apiGroup: group = '', resource, subresource, namespace = '', name = '' } = objectRef;
    const isAllowed = annotations?.['authorization.k8s.io/decision'] !== 'forbid';
    const full = subresource === undefined ? resource : `${resource}/${subresource}`;
    const each = { verb, group, resource: full, namespace, name, isAllowed };
    asked.set(JSON.stringify(each), each);
  }
  return [...asked.values()];
}

/** Every verb and resource in the roles of the chart, with the account. */
export function grantsOf(objects: readonly JsonObject[]): readonly Granted[] {
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  return (['admission', 'background', 'hooks'] as const).flatMap((account) =>
    roles
      .filter((role) => {
        const name = String((role['metadata'] as JsonObject)['name']);
        return name === `kymera-${account}` || name === `kymera-${account}-core`;
      })
      .flatMap((role) => rulesOf(role).flatMap((rule) => grantsIn(account, role, rule))),
  );
}

function grantsIn(account: Account, role: JsonObject, rule: JsonObject): readonly Granted[] {
  const texts = (field: string) => {
    const value = rule[field];
    return isArray(value) ? value.map(String) : [];
  };
  const namespace = (role['metadata'] as JsonObject)['namespace'];
  const scope = typeof namespace === 'string' ? { namespace } : {};
  return texts('apiGroups').flatMap((group) =>
    texts('resources').flatMap((resource) =>
      texts('verbs').map((verb) => ({
        account,
        verb,
        group,
        resource,
        names: texts('resourceNames'),
        ...scope,
      })),
    ),
  );
}

function rulesOf(role: JsonObject): readonly JsonObject[] {
  const rules = role['rules'];
  return isArray(rules) ? (rules as readonly JsonObject[]) : [];
}

export function covers(granted: Granted, asked: Asked): boolean {
  return (
    granted.verb === asked.verb &&
    granted.group === asked.group &&
    granted.resource === asked.resource &&
    (granted.namespace === undefined || granted.namespace === asked.namespace) &&
    (granted.names.length === 0 || granted.names.includes(asked.name))
  );
}

/** `background: update leases.coordination.k8s.io in kymera`. */
export function describeGrant({ account, verb, group, resource, namespace }: Granted): string {
  const [name, subresource] = resource.split('/');
  const kind = `${name}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  return `${account}: ${verb} ${kind}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
