import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Answer, KubernetesObject } from './kubectl.ts';
import { givenHelm, givenHelmSkip, type Settings } from './settings.ts';
import { patienceSeconds } from './wait-for.ts';

export const chart = fileURLToPath(new URL('../charts/kymera', import.meta.url));
/** Values that set every key of the chart to something other than its default. */
export const everyValue = fileURLToPath(new URL('helm/every-value.yaml', import.meta.url));

export interface Helm {
  run(...args: string[]): Promise<Answer>;
  ok(...args: string[]): Promise<string>;
  /** The objects that the chart renders, including hooks; `args` set values. */
  template(release: string, namespace: string, ...args: string[]): Promise<readonly KubernetesObject[]>;
}

/** The reason why the specs of the chart are skipped, if any. */
export const helmMissing = givenHelm === undefined ? givenHelmSkip : undefined;

/** The real helm. */
export function createHelm(settings: Settings): Helm {
  const folder = settings.controlPlane ?? tmpdir();
  const env = {
    ...process.env,
    KUBECONFIG: settings.kubeconfig,
    HELM_CACHE_HOME: join(folder, 'helm-cache'),
    HELM_CONFIG_HOME: join(folder, 'helm-config'),
    HELM_DATA_HOME: join(folder, 'helm-data'),
  };
  const run = (...args: string[]): Promise<Answer> =>
    new Promise((resolve) => {
      const options = { env, timeout: 2 * patienceSeconds * 1_000, maxBuffer: 64 * 1024 * 1024 };
      execFile(givenHelm ?? 'helm', args, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      });
    });
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  return {
    run,
    ok,
    template: async (release, namespace, ...args) =>
      objectsIn(await ok('template', release, chart, `--namespace=${namespace}`, ...args)),
  };
}

export function objectsIn(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}
