import { nameOf } from '../json/metadata.ts';
import { readNumber, readObject, readObjects, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import type { ApiClient } from './api/client.ts';
import { hasStatus, messageOf } from './api/cluster-error.ts';
import { managedSelector } from './api/names.ts';
import { type ResourceType, resourceTypes } from './api/resource-path.ts';
import { customResourceDefinitions } from './crds/crds.ts';
import { prunedFields } from './crds/pruned-fields.ts';
import { isOfKyverno } from './policies/selection.ts';
import { mutatingConfigurationName, validatingConfigurationName } from './webhooks/names.ts';
import { probeServer } from './webhooks/probe.ts';
import { readyEndpoints } from './webhooks/service-endpoints.ts';

export interface Finding {
  readonly ok: boolean;
  /** Information that is not a problem. */
  readonly note?: true | undefined;
  readonly text: string;
  /** The object to delete to fix the problem. */
  readonly remedy?: { readonly type: ResourceType; readonly name: string } | undefined;
}

/** Checks that a Service has endpoints, or that a URL answers. Returns the problem, or undefined. */
export type TargetCheck = (clientConfig: JsonObject) => Promise<string | undefined>;

/** Checks the objects that a server has written to a cluster. */
export async function diagnose(client: ApiClient, check = targetCheck(client)): Promise<readonly Finding[]> {
  const findings: Finding[] = [...(await examineDefinitions(client)), ...(await besideKyverno(client))];
  for (const [type, name] of [
    [resourceTypes.mutatingWebhooks, mutatingConfigurationName],
    [resourceTypes.validatingWebhooks, validatingConfigurationName],
  ] as const) {
    const labelled = (await client.list(type, { labelSelector: managedSelector })).items;
    const named = await findNamed(client, type, name);
    const isKnown = labelled.some((each) => nameOf(each) === name);
    for (const each of named === undefined || isKnown ? labelled : [...labelled, named])
      findings.push(await examine(type, each, check));
  }
  return findings;
}

async function findNamed(
  client: ApiClient,
  type: ResourceType,
  name: string,
): Promise<JsonObject | undefined> {
  try {
    return await client.get(type, { name });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

async function examineDefinitions(client: ApiClient): Promise<readonly Finding[]> {
  const { items } = await client.list(resourceTypes.customResourceDefinitions);
  const present = new Map(items.map((item) => [nameOf(item), item]));
  const ours = customResourceDefinitions();
  const missing = ours.map(nameOf).filter((name) => !present.has(name));
  const first: Finding =
    missing.length === 0
      ? { ok: true, text: 'all custom resource definitions are installed' }
      : { ok: false, text: `custom resource definitions are missing: ${missing.join(', ')}` };
  return [first, ...ours.flatMap((own) => examineDefinition(own, present.get(nameOf(own))))];
}

/** The API server drops fields that the installed CustomResourceDefinition does not have. */
function examineDefinition(own: JsonObject, installed: JsonObject | undefined): readonly Finding[] {
  const pruned = installed === undefined ? [] : prunedFields(own, installed);
  if (installed === undefined || pruned.length === 0) return [];
  const labels = readObject(readObject(installed, 'metadata') ?? {}, 'labels') ?? {};
  const whose =
    labels['app.kubernetes.io/name'] === 'kymera' ? 'from an older version of Kymera' : 'not from Kymera';
  const text = `${nameOf(own)} is ${whose}: the API server drops ${pruned.join(', ')}`;
  return [{ ok: true, note: true, text }];
}

async function besideKyverno(client: ApiClient): Promise<readonly Finding[]> {
  const { items } = await client.list(resourceTypes.mutatingWebhooks, { metadataOnly: true });
  if (!items.some(isOfKyverno)) return [];
  const text =
    'Kyverno is installed, too: only kyverno.io policies that --policy-selector selects are applied by Kymera';
  return [{ ok: true, note: true, text }];
}

/** A configuration without a reachable server can be deleted: a running server writes it again. */
async function examine(type: ResourceType, configuration: JsonObject, check: TargetCheck): Promise<Finding> {
  const name = nameOf(configuration);
  const entries = readObjects(configuration, 'webhooks');
  if (entries.length === 0) return { ok: true, text: `${name} has no entries` };
  // All entries have the same host.
  const reason = await check(readObject(entries[0] ?? {}, 'clientConfig') ?? {});
  if (reason === undefined) return { ok: true, text: `the server of ${name} answers` };
  const blocking = entries.some((entry) => readText(entry, 'failurePolicy') === 'Fail');
  const effect = blocking ? 'requests are refused' : 'policies are not applied';
  return {
    ok: false,
    text: `the server of ${name} cannot be reached, so ${effect}: ${reason}`,
    remedy: { type, name },
  };
}

function targetCheck(client: ApiClient): TargetCheck {
  return async (clientConfig) => {
    const ca = Buffer.from(readText(clientConfig, 'caBundle') ?? '', 'base64').toString('utf8');
    const url = readText(clientConfig, 'url');
    try {
      if (url !== undefined) await probeServer(new URL(url).origin, ca, { path: new URL(url).pathname });
      else await checkService(client, readObject(clientConfig, 'service') ?? {});
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
}

const services: ResourceType = { group: '', version: 'v1', resource: 'services', namespaced: true };
/** A Service cannot be called from outside the cluster, but its endpoints are visible. */
async function checkService(client: ApiClient, service: JsonObject): Promise<void> {
  const [namespace = '', name = ''] = [readText(service, 'namespace'), readText(service, 'name')];
  const place = `Service ${namespace}/${name}`;
  try {
    await client.get(services, { namespace, name });
  } catch (error) {
    throw hasStatus(error, 404) ? new Error(`${place} does not exist`) : error;
  }
  const ready = await readyEndpoints(client, { namespace, name });
  if (ready.length === 0)
    throw new Error(`${place} has no ready endpoints (port ${readNumber(service, 'port') ?? 443})`);
}
