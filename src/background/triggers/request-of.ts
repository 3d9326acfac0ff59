import { requestOf } from '../../admission/review-request.ts';
import type { GroupVersionKind, Request } from '../../engine/request.ts';
import type { JsonObject } from '../../json/value.ts';
import type { UpdateRequest } from '../queue/update-request.ts';

export type KindOfResource = (resource: {
  group: string;
  version: string;
  resource: string;
}) => GroupVersionKind | undefined;

/** Restores the admission request, with the current trigger, or the stored one if it cannot be read again. */
export function requestOfUpdate(
  { admission, user, operation }: UpdateRequest,
  object: JsonObject | null,
  kindOfResource: KindOfResource,
): Request {
  const roles = { roles: user?.roles ?? [], clusterRoles: user?.clusterRoles ?? [] };
  const info = user?.info;
  const body = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      ...admission,
      operation: operation ?? '',
      ...(info === undefined ? {} : { userInfo: { ...info, groups: [...info.groups] } }),
      ...(object === null ? {} : { object }),
    },
  };
  return requestOf(body as unknown as JsonObject, { roles: () => roles, kindOfResource }).request;
}
