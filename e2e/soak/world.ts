import { get } from 'node:http';
import type { JsonObject } from '../../src/json/value.ts';
import type { ApiProxy } from '../api-proxy.ts';
import type { ClusterServer } from '../cluster-server.ts';
import type { Kubectl } from '../kubectl.ts';
import { configMap, labelPolicy, mergePolicy, pod } from '../objects.ts';
import type { StallingProxy } from '../stalling-proxy.ts';
import { writeToken } from '../token-kubeconfig.ts';
import { type ReviewTarget, reviewBody } from './review-load.ts';

export interface SoakWorld {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly api: ApiProxy;
  readonly server: ClusterServer;
  readonly metricsPort: number;
  /** The connection of the server to the API server. */
  readonly connection: StallingProxy;
  readonly tokenFile: string;
}

/** Changes every second. */
const changing = 'soak-changing';
const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const clusterPolicies = '/apis/kyverno.io/v1/clusterpolicies';

/** Slow reviews loop over so many items: one process can send ten times as many of them as a server can answer. */
const slowItems = 400;

/** The anchor in the slow ones makes each step of the loop copy the annotations. */
export function soakPolicies(namespace: string): readonly JsonObject[] {
  const resources = { namespaces: [namespace] };
  const ignore = { failurePolicy: 'Ignore' };
  const settings = { name: 'settings', configMap: { name: 'settings', namespace } };
  const list = `\`${JSON.stringify(Array.from({ length: slowItems }, (_, index) => index))}\``;
  const annotation = { '+(n{{ elementIndex }})': '{{ element }}' };
  const slow = {
    resources: { ...resources, names: ['slow*'] },
    rule: { mutate: { foreach: [{ list, patchStrategicMerge: { metadata: { annotations: annotation } } }] } },
  };
  return [
    changingPolicy(namespace, 0),
    mergePolicy(
      'soak-reading',
      'ConfigMap',
      { metadata: { labels: { team: '{{ settings.data.team }}' } } },
      { resources: { ...resources, names: ['reading*'] }, rule: { context: [settings] } },
    ),
    mergePolicy(
      'soak-pods',
      'Pod',
      {
        spec: {
          containers: [{ '(name)': '*', resources: { '+(requests)': { memory: '64Mi', cpu: '100m' } } }],
        },
      },
      { resources, spec: ignore },
    ),
    mergePolicy('soak-slow', 'ConfigMap', {}, slow),
    mergePolicy('soak-slow-ignored', 'Pod', {}, { ...slow, spec: ignore }),
  ];
}

function changingPolicy(namespace: string, value: number): JsonObject {
  return labelPolicy(
    changing,
    'ConfigMap',
    { soak: `v${value}` },
    { resources: { namespaces: [namespace] } },
  );
}

/** Reviews of several kinds and sizes, and the failure policy that their path is for. */
export function mixedReviews(namespace: string): readonly (readonly ['fail' | 'ignore', Buffer])[] {
  const small = reviewBody(namespace, configMap('small', { a: '1' }));
  const reading = reviewBody(namespace, configMap('reading', { a: '1' }));
  const workload = reviewBody(namespace, pod('workload', { labels: { app: 'shop' } }));
  const large = reviewBody(namespace, configMap('large', { text: 'x'.repeat(60_000) }));
  const round = [
    ['fail', small],
    ['ignore', workload],
    ['fail', small],
    ['fail', reading],
    ['ignore', workload],
  ] as const;
  return [...round, ...round, ...round, ...round, ['fail', large]];
}

export function slowReviews(namespace: string): readonly (readonly ['fail' | 'ignore', Buffer])[] {
  return [
    ['fail', reviewBody(namespace, configMap('slow'))],
    ['ignore', reviewBody(namespace, pod('slow'))],
  ];
}

export type Targets = Readonly<Record<'fail' | 'ignore', ReviewTarget>>;

/** What the API server calls now, by failure policy. */
export async function readTargets({ api, server }: SoakWorld): Promise<Targets> {
  const { body } = await api.send('GET', `${configurations}/kymera-resource-mutation`);
  const configs = (body.webhooks as { clientConfig: { url: string; caBundle: string } }[]).map(
    ({ clientConfig: { url, caBundle } }) => ({
      url: new URL(url),
      ca: Buffer.from(caBundle, 'base64').toString('utf8'),
    }),
  );
  const of = (set: string) => {
    const found = configs.find(({ url }) => url.pathname.endsWith(`/mutate/${set}`));
    if (found === undefined) throw new Error(`there is no webhook for ${set}`);
    // Not through the balancer, which shares this process.
    found.url.port = String(server.ports()[0]);
    return found;
  };
  return { fail: of('fail'), ignore: of('ignore') };
}

/** What happens to a server in months, in minutes. */
export interface Changes {
  policy(value: number): Promise<void>;
  /** Closes all connections of the server to the API server. */
  watches(): void;
  /** The serving certificate. */
  certificate(): Promise<void>;
  /** The token of the service account. */
  accountToken(): Promise<void>;
  /** The token in the webhook paths. */
  pathToken(): Promise<void>;
}

export function changesOf({ api, kubectl, connection, server, namespace, tokenFile }: SoakWorld): Changes {
  const own = kubectl.with(`--namespace=${server.namespace}`);
  return {
    async policy(value) {
      const path = `${clusterPolicies}/${changing}`;
      const { status } = await api.send(
        'PATCH',
        path,
        changingPolicy(namespace, value),
        'application/merge-patch+json',
      );
      if (status !== 200) throw new Error(`the policy was not changed: ${status}`);
    },
    watches: () => connection.cut(),
    async certificate() {
      await own.ok('delete', 'secret', 'kymera-serving', '--ignore-not-found');
    },
    async accountToken() {
      writeToken(tokenFile, await own.ok('create', 'token', 'kymera-admission', '--duration=1h'));
    },
    async pathToken() {
      const secret = await own.get('secret', 'kymera-webhook-path');
      const state = JSON.parse(Buffer.from(secret['data'].state, 'base64').toString('utf8'));
      // A rotation is due.
      state.current.since = 0;
      const data = { state: Buffer.from(JSON.stringify(state)).toString('base64') };
      await own.ok('patch', 'secret', 'kymera-webhook-path', '-p', JSON.stringify({ data }));
    },
  };
}

/** The values of the metrics of the server without labels, and the sum of those with labels. */
export function readMetrics({ metricsPort }: SoakWorld): Promise<ReadonlyMap<string, number>> {
  return new Promise((resolve, reject) => {
    get(
      { host: '127.0.0.1', port: metricsPort, path: '/metrics', agent: false, timeout: 10_000 },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const values = new Map<string, number>();
          for (const [, name = '', value] of text.matchAll(/^(\w+)(?:\{.*\})? (\S+)$/gm))
            values.set(name, (values.get(name) ?? 0) + Number(value));
          resolve(values);
        });
      },
    ).on('error', reject);
  });
}
