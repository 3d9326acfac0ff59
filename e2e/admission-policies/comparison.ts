import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { ApiClient, RawAnswer } from '../../src/cluster/api/client.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { kymera } from '../kymera.ts';
import { waitFor } from '../wait-for.ts';
import type { AdmissionCase, Subresource } from './case.ts';

export const widgetFile = fileURLToPath(new URL('widget.yaml', import.meta.url));
export const widgetDefinition = parse(readFileSync(widgetFile, 'utf8')) as JsonObject;

/** What `kymera apply` makes of the object of a case, and what the API server makes of that without the policies. */
export interface Preview {
  readonly code: number;
  readonly messages: string;
  /** The object that Kymera printed, as the API server would store it. Undefined if nothing was printed. */
  readonly stored?: RawAnswer | undefined;
  /** The object of the case as the API server would store it without policies. */
  readonly untouched: RawAnswer;
}

export const collections: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/namespaces/NS/configmaps',
  Pod: '/api/v1/namespaces/NS/pods',
  Service: '/api/v1/namespaces/NS/services',
  ServiceAccount: '/api/v1/namespaces/NS/serviceaccounts',
  Namespace: '/api/v1/namespaces',
  Deployment: '/apis/apps/v1/namespaces/NS/deployments',
  CronJob: '/apis/batch/v1/namespaces/NS/cronjobs',
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  Widget: '/apis/example.test/v1/namespaces/NS/widgets',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  MutatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
};

interface SendOptions {
  readonly update?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly user?: AdmissionCase['user'];
  readonly subresource?: Subresource | undefined;
}

/** Creates or updates an object. Unknown fields are errors, as for kubectl. */
export async function sendObject(
  client: ApiClient,
  object: JsonObject,
  { update = false, dryRun = false, user, subresource }: SendOptions = {},
): Promise<RawAnswer> {
  const { metadata } = object;
  const path = pathOf(subresource?.parent ?? object, { one: update, subresource: subresource?.name });
  // Rights are not what the cases compare.
  const impersonation = user === undefined ? [] : [['impersonate-user', user.username] as const];
  const groups = user === undefined ? [] : [['impersonate-group', 'system:masters'] as const];
  const current = update ? await client.raw({ method: 'GET', path }) : undefined;
  const version = ((current?.body ?? {}) as { readonly metadata?: JsonObject }).metadata?.['resourceVersion'];
  return client.raw({
    method: update ? 'PUT' : 'POST',
    path: `${path}?fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`,
    headers: {
      'content-type': 'application/json',
      ...Object.fromEntries([...impersonation, ...groups]),
    },
    body: JSON.stringify(
      version === undefined
        ? object
        : { ...object, metadata: { ...(metadata as JsonObject), resourceVersion: version } },
    ),
  });
}

/** The path of an object, or of its collection. */
function pathOf(
  { kind, metadata }: JsonObject,
  { one, subresource }: { readonly one: boolean; readonly subresource?: string | undefined },
): string {
  const collection = collections[String(kind)];
  if (collection === undefined) throw new Error(`no path for the kind ${String(kind)}`);
  const { name, namespace = '' } = metadata as { readonly name?: string; readonly namespace?: string };
  const path = collection.replace('NS', namespace);
  return one ? [path, name, ...(subresource === undefined ? [] : [subresource])].join('/') : path;
}

export async function sendOk(client: ApiClient, object: JsonObject): Promise<void> {
  const answer = await sendObject(client, object);
  if (answer.status >= 300 && answer.status !== 409) {
    throw new Error(`${String(object['kind'])}: ${messageOf(answer)}`);
  }
}

export function messageOf({ status, body }: RawAnswer): string {
  return `${status} ${typeof body === 'string' ? body : String((body as JsonObject)['message'] ?? '')}`;
}

/** Creates what the policies of a case read, and the object before an update. */
export async function prepareCase(client: ApiClient, one: AdmissionCase): Promise<void> {
  await sendOk(client, one.namespaceObject);
  // Pods get no volume with a random name.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', automountServiceAccountToken: false };
  const metadata = { name: 'default', namespace: one.namespace };
  await waitFor(
    async () => (await sendObject(client, { ...account, metadata })).status === 201 || turnOff(),
    {
      what: 'the service account',
    },
  );
  for (const param of one.params) await sendOk(client, param);
  if (one.old !== undefined) await sendOk(client, one.old);

  async function turnOff(): Promise<boolean> {
    const answer = await sendObject(client, { ...account, metadata }, { update: true });
    return answer.status === 200;
  }
}

/** Runs `kymera apply` on the files of a case. To be called before the policies are in the cluster. */
export async function preview(client: ApiClient, one: AdmissionCase): Promise<Preview> {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-e2e-'));
  try {
    const update = one.old !== undefined;
    const send = { update, dryRun: true, user: one.user, subresource: one.subresource };
    const before = one.subresource === undefined ? one.old : await bodyOf(client, one.subresource);
    const untouched = await sendObject(client, one.object, send);
    const file = (name: string, documents: readonly JsonObject[]): string => {
      const path = join(folder, name);
      writeFileSync(path, documents.map((document) => JSON.stringify(document)).join('\n---\n'));
      return path;
    };
    const values = {
      apiVersion: 'cli.kyverno.io/v1alpha1',
      kind: 'Values',
      globalValues: update ? { 'request.operation': 'UPDATE', 'request.oldObject': before ?? null } : {},
      subresources: one.subresource === undefined ? [] : [subresourceValues(one.object, one.subresource)],
    };
    const user = { apiVersion: 'cli.kyverno.io/v1alpha1', kind: 'UserInfo', userInfo: one.user ?? {} };
    const answer = await kymera(
      'apply',
      file('policies.yaml', one.policies),
      ...['--resource', file('object.yaml', [one.object])],
      ...['--target-resource', file('others.yaml', [one.namespaceObject, ...one.params])],
      ...['--crd', widgetFile, '--values', file('values.yaml', [values]), '--format', 'json'],
      ...(one.user === undefined ? [] : ['--userinfo', file('user.yaml', [user])]),
    );
    const printed = answer.stdout === '' ? undefined : (JSON.parse(answer.stdout) as { items: JsonObject[] });
    const object = printed?.items.find(({ kind }) => kind === one.object['kind']);
    return {
      code: answer.code,
      messages: answer.stderr,
      stored: object === undefined ? undefined : await sendObject(client, object, send),
      untouched,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bodyOf(client: ApiClient, { parent, name }: Subresource): Promise<JsonObject> {
  const path = pathOf(parent, { one: true, subresource: name });
  return (await client.raw({ method: 'GET', path })).body as JsonObject;
}

function subresourceValues(body: JsonObject, { parent, name }: Subresource): JsonObject {
  const kindOf = ({ apiVersion, kind }: JsonObject) => {
    const [version, group = ''] = String(apiVersion).split('/').reverse();
    return { group, version: version ?? '', kind: kind ?? '' };
  };
  const resource = `${String(parent['kind']).toLowerCase()}s`;
  return {
    subresource: { name: `${resource}/${name}`, ...kindOf(body) },
    parentResource: { name: resource, ...kindOf(parent) },
  };
}

/** The object without what the API server sets itself at each request. */
export function comparable(object: JsonObject): JsonObject {
  const { metadata, status: _, ...rest } = object;
  const { uid, resourceVersion, creationTimestamp, generation, managedFields, ...kept } =
    metadata as JsonObject;
  const name = kept['generateName'] === undefined ? {} : { name: 'generated' };
  return { ...rest, metadata: { ...kept, ...name } };
}
