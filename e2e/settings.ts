/**
 * What the specs are run against; the only place that reads the environment.
 *
 * - `KYMERA_E2E_KUBECONFIG`: a cluster that is there already (kind, say); without it a control plane is started.
 * - `KYMERA_E2E_HOST`: the name or address at which that cluster reaches servers on this machine; loopback by default.
 * - `KYMERA_E2E_REACH`: `service` to have servers found through a Service; by default the API server calls their address.
 * - `KYMERA_E2E_KUBECTL`: the kubectl for it; the one on the path by default.
 * - `KYMERA_E2E_BINARIES`, `KYMERA_E2E_SKIP`: from run.mjs, the programs of the control plane, or why there are none.
 * - `KYMERA_E2E_HELM`, `KYMERA_E2E_HELM_SKIP`: from run.mjs, the helm for the specs of the chart, or why there is none.
 */
export interface Settings {
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** Where the API server finds a server that a spec starts. */
  readonly host: string;
  readonly reach: 'url' | 'service';
  /** Of a control plane of our own: its parts can be restarted and users made. */
  readonly controlPlane?: string;
}

/** One cluster for each spec file that runs at the same time. */
export type SuiteSettings = readonly Settings[] | { readonly skip: string };

export const givenSkip = process.env['KYMERA_E2E_SKIP'];
export const givenBinaries = process.env['KYMERA_E2E_BINARIES'];
export const givenKubeconfig = process.env['KYMERA_E2E_KUBECONFIG'];
export const givenKubectl = process.env['KYMERA_E2E_KUBECTL'] ?? 'kubectl';
export const givenHelm = process.env['KYMERA_E2E_HELM'];
export const givenHelmSkip = process.env['KYMERA_E2E_HELM_SKIP'] ?? 'run it with `npm run e2e`';
export const givenHost = process.env['KYMERA_E2E_HOST'] ?? '127.0.0.1';
export const givenReach = process.env['KYMERA_E2E_REACH'] === 'service' ? 'service' : 'url';

declare module 'vitest' {
  interface ProvidedContext {
    readonly settings: SuiteSettings;
  }
}
