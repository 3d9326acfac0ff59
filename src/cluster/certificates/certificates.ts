import { readObject, readTextMap } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { type Informer, startInformer } from '../api/informer.ts';
import { managedLabels } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { KeyPair } from './issuer.ts';
import { certificatesOf } from './issuer.ts';
import {
  type CertificateLife,
  type CertificateState,
  defaultLife,
  planRenewal,
  renew,
  trustedPem,
} from './renewal.ts';

/** The Secrets with certificates and keys. */
export const secretNames = { authority: 'kymera-ca', serving: 'kymera-serving' } as const;

export interface CertificateOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  /** Host names and addresses at which the API server calls this server. */
  readonly names: readonly string[];
  readonly life?: CertificateLife | undefined;
  readonly now?: (() => Date) | undefined;
  /** PEM of the CA bundle in the current webhook configurations. */
  readonly trusted?: (() => Promise<string | undefined>) | undefined;
  readonly onChange: () => void;
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Certificates {
  readonly synced: Promise<void>;
  /** The serving certificate; undefined until a leader has issued it. */
  serving(): KeyPair | undefined;
  /** PEM of all CAs that the API server must trust. */
  caBundle(): string | undefined;
  /** When the serving certificate expires, in ms since the epoch. */
  expiresAt(): number | undefined;
  /** Issues or renews certificates as needed. Called by the leader. */
  maintain(): Promise<void>;
  stop(): Promise<void>;
}

/** Watches the certificates in the two Secrets. */
export function startCertificates(options: CertificateOptions): Certificates {
  const { client, namespace, names, life = defaultLife } = options;
  const { authority: authoritySecret, serving: servingSecret } = secretNames;
  const now = options.now ?? (() => new Date(client.now()));
  const follow = (name: string): Informer =>
    startInformer({
      client,
      type: resourceTypes.secrets,
      kind: 'Secret',
      select: { namespace, fieldSelector: `metadata.name=${name}` },
      onChange() {
        known('authority', authoritySecret);
        known('serving', servingSecret);
        options.onChange();
      },
      onError: options.onError,
    });
  const informers = { authority: follow(authoritySecret), serving: follow(servingSecret) };
  // The last certificates stay in use after a Secret was deleted.
  const remembered = new Map<string, KeyPair>();
  const known = (part: 'authority' | 'serving', name: string) => {
    const pair = keyPairOf(informers[part].get(`${namespace}/${name}`));
    if (pair !== undefined) remembered.set(name, pair);
    return pair ?? remembered.get(name);
  };

  async function read(name: string): Promise<JsonObject | undefined> {
    try {
      return await client.get(resourceTypes.secrets, { namespace, name });
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async function write(name: string, pair: KeyPair, existing: JsonObject | undefined): Promise<void> {
    const data = { 'tls.crt': encode(pair.cert), 'tls.key': encode(pair.key) };
    if (existing !== undefined) {
      // The resourceVersion prevents overwriting what another leader has just written.
      await client.update(resourceTypes.secrets, { ...existing, data });
      return;
    }
    await client.create(resourceTypes.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels: { ...managedLabels } },
      type: 'kubernetes.io/tls',
      data,
    });
  }

  async function maintain(): Promise<void> {
    // Read from the API server: the informers may be outdated.
    const [authorityObject, servingObject] = await Promise.all([read(authoritySecret), read(servingSecret)]);
    const state = await stateOf(authorityObject, servingObject);
    const plan = planRenewal(state, names, now());
    const isServingKept = servingObject !== undefined && keyPairOf(servingObject) !== undefined;
    if (!plan.renewAuthority && !plan.renewServing && isServingKept) return;
    const renewed = await renew(state, plan, names, now(), life);
    if (plan.renewAuthority) await write(authoritySecret, renewed.authority, authorityObject);
    if (plan.renewServing || !isServingKept) await write(servingSecret, renewed.serving, servingObject);
  }

  async function stateOf(
    authorityObject: JsonObject | undefined,
    servingObject: JsonObject | undefined,
  ): Promise<CertificateState> {
    const authority = keyPairOf(authorityObject);
    const serving = keyPairOf(servingObject);
    if (authority !== undefined) return { authority, serving };
    // The API server must trust a new CA before a certificate of it is served.
    const trusted = known('authority', authoritySecret)?.cert ?? (await options.trusted?.());
    const served = serving ?? known('serving', servingSecret);
    return {
      serving: served,
      trusted,
    };
  }

  return {
    synced: Promise.all([informers.authority.synced, informers.serving.synced]).then(() => {}),
    serving: () => known('serving', servingSecret),
    caBundle() {
      const bundle = trustedPem(known('authority', authoritySecret)?.cert ?? '', now());
      return bundle === '' ? undefined : bundle;
    },
    expiresAt() {
      const certificate = certificatesOf(known('serving', servingSecret)?.cert ?? '')[0];
      return certificate === undefined ? undefined : Date.parse(certificate.validTo);
    },
    maintain,
    async stop() {
      await Promise.all([informers.authority.stop(), informers.serving.stop()]);
    },
  };
}

function keyPairOf(secret: JsonObject | undefined): KeyPair | undefined {
  const data = readTextMap(secret ?? {}, 'data');
  const [cert, key] = [decode(data['tls.crt']), decode(data['tls.key'])];
  if (readObject(secret ?? {}, 'metadata') === undefined || cert === '' || key === '') return undefined;
  return { cert, key };
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString('utf8');
}
