import type { RequestSettings } from '../admission/policy-provider.ts';
import type { UserInfo } from '../engine/request.ts';
import { readObject } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { ApiClient } from './api/client.ts';
import {
  type Informer,
  type InformerOptions,
  type InformerTiming,
  keyOf,
  startInformer,
} from './api/informer.ts';
import { resourceTypes } from './api/resource-path.ts';
import { createRoleIndex, type HeldRoles, type RoleIndex } from './context/role-resolver.ts';
import { type ClusterSettings, readSettings } from './settings/cluster-settings.ts';

export interface FollowOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly configMap: string;
  /** Defaults for keys that the ConfigMap does not set. */
  readonly request?: RequestSettings | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
  readonly onSettings: (problems: readonly string[]) => void;
  readonly onKinds: () => void;
  readonly onError: (what: string, error: unknown) => void;
}

/** The objects that every replica watches, apart from policies. */
export interface FollowedObjects {
  readonly namespaces: Informer;
  readonly informers: ReadonlyMap<string, Informer>;
  /** The names of the CustomResourceDefinitions. */
  definitions(): readonly string[];
  rolesOf(user: UserInfo, namespace: string): HeldRoles;
  settings(): ClusterSettings;
  stop(): Promise<void>;
}

export function followObjects(options: FollowOptions): FollowedObjects {
  const { client, namespace, configMap, request, timing, onSettings, onKinds, onError } = options;
  let roles: RoleIndex | undefined;
  let settings = readSettings(undefined, request).settings;
  const forgetRoles = () => {
    roles = undefined;
  };
  const follow = (what: string, more: Omit<InformerOptions, 'client' | 'timing' | 'onError'>) =>
    startInformer({
      client,
      timing,
      onError: (error) => onError(what, error),
      ...more,
    });
  const namespaces = follow('namespaces', {
    type: resourceTypes.namespaces,
    kind: 'Namespace',
    select: { metadataOnly: true },
    keep: labelsOnly,
  });
  const roleBindings = follow('role bindings', {
    type: resourceTypes.roleBindings,
    kind: 'RoleBinding',
    onChange: forgetRoles,
  });
  const clusterRoleBindings = follow('cluster role bindings', {
    type: resourceTypes.clusterRoleBindings,
    kind: 'ClusterRoleBinding',
    onChange: forgetRoles,
  });
  const configMaps = follow('settings', {
    type: resourceTypes.configMaps,
    kind: 'ConfigMap',
    select: { namespace, fieldSelector: `metadata.name=${configMap}` },
    onChange({ object }) {
      const read = readSettings(object, request);
      settings = read.settings;
      onSettings(read.problems);
    },
  });
  const definitions = follow('custom resource definitions', {
    type: resourceTypes.customResourceDefinitions,
    kind: 'CustomResourceDefinition',
    select: { metadataOnly: true },
    keep: labelsOnly,
    onChange: onKinds,
  });
  const informers = new Map([
    ['namespaces', namespaces],
    ['role bindings', roleBindings],
    ['cluster role bindings', clusterRoleBindings],
    ['settings', configMaps],
    ['custom resource definitions', definitions],
  ]);
  return {
    namespaces,
    informers,
    definitions: () => [...definitions.values()].map(keyOf),
    rolesOf(user, requestNamespace) {
      roles ??= createRoleIndex(roleBindings.values(), clusterRoleBindings.values());
      return roles.rolesOf(user, requestNamespace);
    },
    settings: () => settings,
    async stop() {
      await Promise.all([...informers.values()].map((informer) => informer.stop()));
    },
  };
}

/** Drops annotations, which can be large and are not read. */
function labelsOnly(object: JsonObject): JsonObject {
  const { name, labels, resourceVersion } = readObject(object, 'metadata') ?? {};
  return { metadata: { name: name ?? '', labels: labels ?? {}, resourceVersion: resourceVersion ?? '' } };
}
