/**
 * The cluster for the specs. Only this module reads the environment.
 *
 * - `KYMERA_E2E_KUBECONFIG`: an existing cluster, such as kind; by default a control plane is started.
 * - `KYMERA_E2E_HOST`: the name or address at which that cluster reaches servers on this machine; loopback by default.
 * - `KYMERA_E2E_REACH`: `service` to register servers by a Service; by default by URL.
 * - `KYMERA_E2E_KUBECTL`: the kubectl for it; the one on the path by default.
 * - `KYMERA_E2E_BINARIES`, `KYMERA_E2E_SKIP`: from run.mjs, the control plane binaries, or why they are missing.
 * - `KYMERA_E2E_HELM`, `KYMERA_E2E_HELM_SKIP`: from run.mjs, the helm binary, or why it is missing.
 */
export interface Settings {
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** The address at which the API server reaches servers of a spec. */
  readonly host: string;
  readonly reach: 'url' | 'service';
  /** The folder of our own control plane, whose API server can be restarted and whose users can be created. */
  readonly controlPlane?: string;
}

/** One cluster per concurrent spec file. */
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
