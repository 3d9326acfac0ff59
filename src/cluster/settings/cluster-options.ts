import type { RequestSettings } from '../../admission/policy-provider.ts';
import type { ControllerLimits } from '../../background/queue/controller.ts';
import type { AccessOptions } from '../api/cluster-access.ts';
import type { InformerTiming } from '../api/informer.ts';
import type { LeaseTiming } from '../api/lease.ts';
import type { CertificateLife } from '../certificates/plan.ts';

export interface ClusterLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** What can be chosen about the work in the background. */
export interface BackgroundOptions {
  /** How often rules for existing objects are run anyway; 0 for never. */
  readonly scanIntervalMs: number;
  readonly limits?: Partial<ControllerLimits> | undefined;
}

/** Everything that can be chosen about life in a cluster. */
export interface ClusterOptions extends AccessOptions {
  /** How the API server reaches the server: an address, or a Service of the own namespace. */
  readonly webhook:
    | { readonly url: string }
    | { readonly service: { readonly name: string; readonly port?: number | undefined } };
  /** Where Lease, Secrets and ConfigMap are; that of the pod, else `kymera`. */
  readonly namespace?: string | undefined;
  /** The name of this replica among others. */
  readonly identity?: string | undefined;
  /** The ConfigMap with the settings. */
  readonly configMap?: string | undefined;
  /** What holds where that ConfigMap says nothing. */
  readonly request?: RequestSettings | undefined;
  /** PEM, brought by the user: then no certificates are made, and this is what the API server trusts. May change. */
  readonly certificateAuthority?: (() => string) | undefined;
  /** Labels of the `kyverno.io` policies that are taken; all by default, none where Kyverno runs. */
  readonly policySelector?: string | undefined;
  /** Namespaces whose PolicyExceptions count; `*` for all. */
  readonly exceptionNamespaces?: readonly string[] | undefined;
  /** `system:serviceaccount:NS:NAME`, as whom existing objects are changed; by default whoever the kubeconfig is. */
  readonly backgroundUser?: string | undefined;
  /** The Deployment of this server: when it is gone or scaled to zero, the webhooks go too. */
  readonly deployment?: string | undefined;
  /** Hosts outside the cluster that policies may call. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly apiCallTimeoutMs?: number | undefined;
  readonly maxApiCallBytes?: number | undefined;
  /** Reasons of events that are not written. */
  readonly omitEvents?: readonly string[] | undefined;
  readonly maximumQueuedEvents?: number | undefined;
  readonly forceIgnore?: boolean | undefined;
  /** False leaves the webhook configurations to others. */
  readonly registerWebhooks?: boolean | undefined;
  /** False: requests set off no rules in the background. */
  readonly takeTriggers?: boolean | undefined;
  /** Also does the work in the background. */
  readonly background?: BackgroundOptions | undefined;
  readonly log?: ClusterLog | undefined;
  readonly timing?:
    | {
        readonly informer?: Partial<InformerTiming> | undefined;
        readonly lease?: LeaseTiming | undefined;
        readonly certificateLife?: CertificateLife | undefined;
        /** How often the leader looks whether certificates are due. */
        readonly certificateCheckMs?: number | undefined;
      }
    | undefined;
}

export const silentLog: ClusterLog = { info: () => {}, warn: () => {} };
