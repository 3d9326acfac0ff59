import type { JsonObject } from '../../json/value.ts';

/** How the API server reaches this server. */
export type WebhookTarget = { readonly caBundle: string } & (
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
);

export interface WebhookSettings {
  readonly target: WebhookTarget;
  /** The first segment of every path; without it paths start with the name of the webhook. */
  readonly pathToken?: string | undefined;
  /** The namespace of this installation. Policies never apply to it. */
  readonly namespace: string;
  /** From the ConfigMap. It replaces the default, which excludes kube-system. */
  readonly namespaceSelector?: JsonObject | undefined;
  readonly objectSelector?: JsonObject | undefined;
  /** For shared entries. A policy with its own matchConditions has its own entry. */
  readonly matchConditions?: readonly JsonObject[] | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly defaultTimeoutSeconds?: number | undefined;
}

const nameLabel = 'kubernetes.io/metadata.name';

/** Always excludes the server's own namespace: an unavailable server must be able to restart. */
export function namespaceSelector(
  { namespace, namespaceSelector: configured }: WebhookSettings,
  only?: readonly string[],
): JsonObject {
  const byName = (operator: string, values: readonly string[]) => ({
    key: nameLabel,
    operator,
    values: [...values],
  });
  const within = only === undefined ? [] : [byName('In', only)];
  if (configured === undefined) {
    const left = [...new Set(['kube-system', namespace])].sort();
    return { matchExpressions: [byName('NotIn', left), ...within] };
  }
  const expressions = configured['matchExpressions'];
  return {
    ...configured,
    matchExpressions: [
      ...(Array.isArray(expressions) ? expressions : []),
      byName('NotIn', [namespace]),
      ...within,
    ],
  };
}

export function clientConfig({ target, pathToken }: WebhookSettings, webhookPath: string): JsonObject {
  const path = pathToken === undefined ? webhookPath : `/${pathToken}${webhookPath}`;
  if ('url' in target) return { caBundle: target.caBundle, url: `${target.url.replace(/\/+$/, '')}${path}` };
  return { caBundle: target.caBundle, service: { ...target.service, path } };
}
