import { matchesWildcard } from '../expression/wildcard.ts';
import type { JsonObject } from '../json/value.ts';
import { member } from '../json/value.ts';

/** A GlobalContextEntry with this annotation set to "true" is readable from namespaced Policies. */
export const allowNamespacedAnnotation = 'kymera.io/allow-namespaced';

/** Something outside of the request that a policy reads or writes. */
export type PolicyAccess =
  | {
      readonly type: 'object';
      readonly kind: string;
      /** Whether the kind is namespaced; undefined if that is unknown. */
      readonly namespaced: boolean | undefined;
      /** As the policy states it, possibly with wildcards. Empty for its own namespace. */
      readonly namespace: string;
    }
  /** A path of the Kubernetes API. */
  | { readonly type: 'path'; readonly urlPath: string }
  | {
      readonly type: 'service';
      readonly host: string;
      /** Hosts that namespaced Policies may call besides their own Services; wildcards. */
      readonly allowedHosts: readonly string[];
    }
  | {
      readonly type: 'globalContextEntry';
      readonly name: string;
      readonly annotations: JsonObject;
    };

/**
 * Why a policy may not make this access; undefined if it may. A ClusterPolicy (without namespace) may access everything that
 * Kymera may. A namespaced Policy stays in its namespace. No other function decides this.
 *
 * @example scopeViolation('team', { type: 'path', urlPath: '/api/v1/namespaces/team/pods' }) // undefined
 */
export function scopeViolation(namespace: string | undefined, access: PolicyAccess): string | undefined {
  if (namespace === undefined) return undefined;
  const reason = reasonAgainst(namespace, access);
  return reason === undefined ? undefined : `a Policy in namespace ${namespace} ${reason}`;
}

function reasonAgainst(own: string, access: PolicyAccess): string | undefined {
  switch (access.type) {
    case 'object':
      if (access.namespaced === undefined) {
        return `cannot access ${access.kind || 'objects'}: it is unknown whether the kind is namespaced`;
      }
      if (!access.namespaced) return `cannot access ${access.kind}, which is cluster-scoped`;
      if (access.namespace === '' || matchesWildcard(access.namespace, own)) return undefined;
      return `cannot access ${access.kind} objects in namespace ${access.namespace}`;
    case 'path':
      return isPathInside(own, access.urlPath)
        ? undefined
        : `can call only paths below /api/v1/namespaces/${own}/ or /apis/GROUP/VERSION/namespaces/${own}/, without encoded characters, empty segments, "." and ".."`;
    case 'service':
      if (serviceOf(access.host)?.namespace === own) return undefined;
      if (access.allowedHosts.some((pattern) => matchesWildcard(pattern.toLowerCase(), access.host))) {
        return undefined;
      }
      return `cannot call ${access.host}: it is not a Service in its namespace and not allowed for namespaced Policies`;
    case 'globalContextEntry':
      return member(access.annotations, allowNamespacedAnnotation) === 'true'
        ? undefined
        : `cannot read GlobalContextEntry ${access.name}: the entry does not have the annotation ${allowNamespacedAnnotation}: "true"`;
  }
}

/** The name and namespace in the DNS name of a Service. */
export function serviceOf(host: string): { readonly name: string; readonly namespace: string } | undefined {
  const parts = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.cluster\.local)?\.?$/.exec(host.toLowerCase());
  return parts === null ? undefined : { name: parts[1] ?? '', namespace: parts[2] ?? '' };
}

/** Only plain characters: an encoded dot or slash is decoded by the API server, after this check. */
const plainSegment = /^[A-Za-z0-9._~:@!$&'()*+,;=-]+$/;

function isPathInside(namespace: string, urlPath: string): boolean {
  const [route = ''] = urlPath.split('?', 1);
  const [empty, ...segments] = route.replace(/(?<=[^/])\/$/, '').split('/');
  if (empty !== '') return false;
  if (!segments.every((segment) => plainSegment.test(segment) && segment !== '.' && segment !== '..')) {
    return false;
  }
  const [root] = segments;
  const start = root === 'api' ? 2 : root === 'apis' ? 3 : undefined;
  return start !== undefined && segments[start] === 'namespaces' && segments[start + 1] === namespace;
}
