import type { GroupVersionKind } from '../../engine/request.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject } from '../../json/value.ts';
import type { KindSelector } from '../../policy/compiled.ts';
import type { ApiClient } from './client.ts';
import { apiErrorOf } from './cluster-error.ts';
import { readAggregated, readResourceList, type ServedKind } from './discovery-document.ts';
import { createListeners } from './listeners.ts';

/** The kinds that the API server serves, at one point in time. */
export interface KindTable {
  readonly kinds: readonly ServedKind[];
  kindOfResource(resource: ResourceName): GroupVersionKind | undefined;
  /** The resource of a kind; the preferred one if group or version is not given. */
  resourceOf(kind: {
    readonly kind: string;
    readonly group?: string | undefined;
    readonly version?: string | undefined;
  }): ServedKind | undefined;
  /** All kinds and versions that a selector matches; its subresource is ignored. */
  select(selector: KindSelector): readonly ServedKind[];
}

export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface Discovery {
  current(): KindTable;
  /**
   * Reads the kinds again. On failure it rejects and keeps the current table. Resolves to false while the API server does not list
   * kinds that it may still serve; the table keeps them.
   */
  refresh(): Promise<boolean>;
  onChange(listener: () => void): () => void;
}

export function createKindTable(kinds: readonly ServedKind[]): KindTable {
  const byResource = new Map<string, ServedKind>();
  const byKind = new Map<string, ServedKind[]>();
  for (const served of kinds) {
    byResource.set(`${served.group}/${served.version}/${served.resource}`, served);
    const list = byKind.get(served.kind);
    if (list === undefined) byKind.set(served.kind, [served]);
    else list.push(served);
  }
  return {
    kinds,
    kindOfResource({ group, version, resource }) {
      const served = byResource.get(`${group}/${version}/${resource}`);
      return served === undefined ? undefined : { group, version, kind: served.kind };
    },
    resourceOf: ({ group, version, kind }) =>
      byKind
        .get(kind)
        ?.find(
          (served) =>
            (group === undefined || served.group === group) &&
            (version === undefined || served.version === version),
        ),
    select(selector) {
      const candidates = selector.kind.literal ? (byKind.get(selector.kind.pattern) ?? []) : kinds;
      return candidates.filter(
        (served) =>
          selector.kind.matches(served.kind) &&
          selector.group.matches(served.group) &&
          selector.version.matches(served.version) &&
          (selector.resource?.matches(served.resource) ?? true),
      );
    },
  };
}

export async function startDiscovery(client: ApiClient): Promise<Discovery> {
  let table = createKindTable(await readKinds(client));
  let text = JSON.stringify(table.kinds);
  let refreshing: Promise<boolean> | undefined;
  const changed = createListeners();
  async function refresh(): Promise<boolean> {
    const listed = await readKinds(client);
    const unlisted = await stillServed(client, missingFrom(listed, table.kinds));
    const kinds = [...listed, ...unlisted];
    const newText = JSON.stringify(kinds);
    if (newText !== text) {
      text = newText;
      table = createKindTable(kinds);
      changed.notify();
    }
    return unlisted.length === 0;
  }
  return {
    current: () => table,
    refresh() {
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
    onChange: changed.subscribe,
  };
}

function missingFrom(listed: readonly ServedKind[], known: readonly ServedKind[]): readonly ServedKind[] {
  const keyOf = ({ group, version, resource }: ServedKind) => `${group}/${version}/${resource}`;
  const present = new Set(listed.map(keyOf));
  return known.filter((kind) => !present.has(keyOf(kind)));
}

/**
 * Those of the kinds that the API server does not list, but does not deny to serve either. An API server that starts lists custom
 * resources late; to forget their objects would end the policies. Until it knows all its paths it answers 503, not 404.
 */
async function stillServed(
  client: ApiClient,
  missing: readonly ServedKind[],
): Promise<readonly ServedKind[]> {
  const pathOf = ({ group, version }: ServedKind) =>
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const kept = await Promise.all(
    [...new Set(missing.map(pathOf))].map(async (path) => {
      const kinds = missing.filter((kind) => pathOf(kind) === path);
      const { status, body } = await client.raw({ method: 'GET', path });
      if (status === 404) return [];
      if (status !== 200 || typeof body === 'string' || !isObject(body)) return kinds;
      const served = new Set(readResourceList(body).map(({ resource }) => resource));
      return kinds.filter(({ resource }) => served.has(resource));
    }),
  );
  return kept.flat();
}

const aggregated = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

async function readKinds(client: ApiClient): Promise<readonly ServedKind[]> {
  const answers = await Promise.all(
    ['/api', '/apis'].map(async (path) => {
      const { status, body } = await client.raw({
        method: 'GET',
        path,
        headers: { accept: `${aggregated},application/json` },
      });
      if (status !== 200 || typeof body === 'string' || !isObject(body))
        throw apiErrorOf(status, `GET ${path}`, body);
      return body;
    }),
  );
  if (answers.every((answer) => readText(answer, 'kind') === 'APIGroupDiscoveryList'))
    return answers.flatMap(readAggregated);
  return readEachVersion(client, answers[1] ?? {});
}

/** API servers before 1.27 and aggregated API servers are queried version by version. */
async function readEachVersion(
  client: ApiClient,
  groups: Parameters<typeof readObjects>[0],
): Promise<readonly ServedKind[]> {
  const versions = readObjects(groups, 'groups').flatMap((group) => {
    const preferred = readText(readObject(group, 'preferredVersion') ?? {}, 'groupVersion') ?? '';
    const all = readObjects(group, 'versions').map((version) => readText(version, 'groupVersion') ?? '');
    return [preferred, ...all.filter((version) => version !== preferred)];
  });
  const lists = await Promise.all(
    ['/api/v1', ...versions.map((version) => `/apis/${version}`)].map(async (path) => {
      const { status, body } = await client.raw({ method: 'GET', path });
      // A group whose server is unavailable does not affect the others.
      return status === 200 && typeof body !== 'string' && isObject(body) ? readResourceList(body) : [];
    }),
  );
  return lists.flat();
}
