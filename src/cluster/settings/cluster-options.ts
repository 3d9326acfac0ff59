import type { RequestSettings } from '../../admission/policy-provider.ts';
import type { ControllerLimits } from '../../background/queue/controller.ts';
import type { PolicyLimits } from '../../policy/policy-limits.ts';
import type { AccessOptions } from '../api/cluster-access.ts';
import type { InformerTiming } from '../api/informer.ts';
import type { LeaseTiming } from '../api/leader-election.ts';
import type { TokenTiming } from '../certificates/path-tokens.ts';
import type { CertificateLife } from '../certificates/renewal.ts';

export interface ClusterLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Options of the background controller. */
export interface BackgroundOptions {
  /** The interval of the periodic resync of mutateExisting and generate rules; 0 disables it. */
  readonly scanIntervalMs: number;
  readonly limits?: Partial<ControllerLimits> | undefined;
}

/** Options of a server in a cluster. */
export interface ClusterOptions extends AccessOptions {
  /** How the API server reaches this server: a URL, or a Service in the server's namespace. */
  readonly webhook:
    | { readonly url: string }
    | { readonly service: { readonly name: string; readonly port?: number | undefined } };
  /** The namespace of the Lease, the Secrets and the ConfigMap. Default: the Pod's namespace, else `kymera`. */
  readonly namespace?: string | undefined;
  /** The unique name of this replica. */
  readonly identity?: string | undefined;
  /** The ConfigMap with the settings. */
  readonly configMap?: string | undefined;
  /** Defaults for keys that the ConfigMap does not set. */
  readonly request?: RequestSettings | undefined;
  /** PEM of the user's CA, which may change. If given, the server issues no certificates, and the API server trusts this CA. */
  readonly certificateAuthority?: (() => string) | undefined;
  /** A label selector for `kyverno.io` policies. Default: all of them, or none if Kyverno is installed. */
  readonly policySelector?: string | undefined;
  /** The largest policies to compile. */
  readonly policyLimits?: PolicyLimits | undefined;
  /** Namespaces whose PolicyExceptions apply; `*` for all. */
  readonly exceptionNamespaces?: readonly string[] | undefined;
  /** The user of the background controller, as `system:serviceaccount:NS:NAME`. Default: the user of the kubeconfig. */
  readonly backgroundUser?: string | undefined;
  /** The Deployment of this server. When it is deleted or scaled to zero, the webhook configurations are removed. */
  readonly deployment?: string | undefined;
  /** Hosts outside the cluster that policies may call; wildcards are allowed. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Hosts that namespaced Policies may call besides the Services of their namespace. */
  readonly namespacedHosts?: readonly string[] | undefined;
  readonly apiCallTimeoutMs?: number | undefined;
  readonly maxApiCallBytes?: number | undefined;
  /** Reasons of events to omit. */
  readonly omitEvents?: readonly string[] | undefined;
  readonly maximumQueuedEvents?: number | undefined;
  readonly forceIgnore?: boolean | undefined;
  /** False: do not manage webhook configurations. */
  readonly registerWebhooks?: boolean | undefined;
  /** False: do not generate MutatingAdmissionPolicies. */
  readonly admissionPolicies?: boolean | undefined;
  /** False: requests do not trigger mutateExisting and generate rules. */
  readonly takeTriggers?: boolean | undefined;
  /** If given, this server also runs the background controller. */
  readonly background?: BackgroundOptions | undefined;
  readonly log?: ClusterLog | undefined;
  readonly timing?:
    | {
        readonly informer?: Partial<InformerTiming> | undefined;
        readonly lease?: LeaseTiming | undefined;
        readonly certificateLife?: CertificateLife | undefined;
        /** How often the leader checks whether certificates and path tokens must be renewed. */
        readonly certificateCheckMs?: number | undefined;
        readonly pathTokens?: TokenTiming | undefined;
        /** How long API servers may take to read a MutatingAdmissionPolicy or a webhook configuration. */
        readonly admissionPolicyMs?: number | undefined;
      }
    | undefined;
}

export const silentLog: ClusterLog = { info: () => {}, warn: () => {} };

/** Without webhook configurations of its own, a server could not take a policy back. */
export function generatesAdmissionPolicies({
  admissionPolicies,
  registerWebhooks,
}: Pick<ClusterOptions, 'admissionPolicies' | 'registerWebhooks'>): boolean {
  return admissionPolicies !== false && registerWebhooks !== false;
}
