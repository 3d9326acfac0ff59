/** A kind as the API server names it in paths. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  /** The plural: `pods`. */
  readonly resource: string;
  readonly namespaced: boolean;
}

export interface ObjectPlace {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `/apis/apps/v1/namespaces/NS/deployments/NAME/scale`. */
export function pathOf(type: ResourceType, { namespace, name, subresource }: ObjectPlace = {}): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const place = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}${place}/${type.resource}${object}${subresource ? `/${encodeURIComponent(subresource)}` : ''}`;
}

/** The inverse of `pathOf`; undefined for a path that is not a resource's. */
export function resourceOfPath(
  path: string,
): (Pick<ResourceType, 'group' | 'version' | 'resource'> & ObjectPlace) | undefined {
  const [root, ...rest] = path.split('/').slice(1);
  const [group, version, ...parts] = root === 'api' ? ['', ...rest] : root === 'apis' ? rest : [];
  // `status` and `finalize` are subresources of the Namespace; every other segment is a resource in the namespace.
  const isWithin =
    parts[0] === 'namespaces' && parts.length > 2 && !/^(status|finalize)$/.test(parts[2] ?? '');
  const [resource, name, subresource] = isWithin ? parts.slice(2) : parts;
  if (group === undefined || !version || !resource) return undefined;
  return {
    group,
    version,
    resource,
    ...(isWithin ? { namespace: parts[1] ?? '' } : {}),
    ...(name ? { name } : {}),
    ...(subresource ? { subresource } : {}),
  };
}

/** Whether an object can have this name. Other names, from variables of a policy, could lead to another path. */
export function isObjectName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}

export function apiVersionOf({ group, version }: Pick<ResourceType, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

function type(group: string, version: string, resource: string, namespaced: boolean): ResourceType {
  return { group, version, resource, namespaced };
}

/** The kinds that this layer reads and writes. */
export const resourceTypes = {
  namespaces: type('', 'v1', 'namespaces', false),
  configMaps: type('', 'v1', 'configmaps', true),
  secrets: type('', 'v1', 'secrets', true),
  services: type('', 'v1', 'services', true),
  deployments: type('apps', 'v1', 'deployments', true),
  leases: type('coordination.k8s.io', 'v1', 'leases', true),
  events: type('events.k8s.io', 'v1', 'events', true),
  roleBindings: type('rbac.authorization.k8s.io', 'v1', 'rolebindings', true),
  clusterRoleBindings: type('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', false),
  updateRequests: type('kyverno.io', 'v2', 'updaterequests', true),
  customResourceDefinitions: type('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', false),
  mutatingWebhooks: type('admissionregistration.k8s.io', 'v1', 'mutatingwebhookconfigurations', false),
  validatingWebhooks: type('admissionregistration.k8s.io', 'v1', 'validatingwebhookconfigurations', false),
  admissionPolicies: type('admissionregistration.k8s.io', 'v1', 'mutatingadmissionpolicies', false),
  admissionPolicyBindings: type(
    'admissionregistration.k8s.io',
    'v1',
    'mutatingadmissionpolicybindings',
    false,
  ),
  subjectAccessReviews: type('authorization.k8s.io', 'v1', 'subjectaccessreviews', false),
  selfSubjectReviews: type('authentication.k8s.io', 'v1', 'selfsubjectreviews', false),
} as const;
