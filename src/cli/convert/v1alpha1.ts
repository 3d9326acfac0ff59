import { isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap } from 'yaml';
import { read, readList, readObject, readObjects } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import {
  mapAt,
  mapsIn,
  memberOf,
  newList,
  newMap,
  newPair,
  pairOf,
  renameKey,
  setText,
  textAt,
} from '../../yaml/nodes.ts';
import { type Obstacle, overlayObstacle } from './overlay.ts';
import { patchesAsText, patchesObstacle } from './patches.ts';

/** The obstacles to converting a v1alpha1 policy, with their paths in the document. */
export function alphaObstacles(document: JsonObject): readonly (Obstacle & { readonly advice: string })[] {
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').flatMap((rule, index) => {
    const mutate = readObject(rule, 'mutate') ?? {};
    const at: Path = ['spec', 'rules', index, 'mutate'];
    const overlay = read(mutate, 'overlay');
    const inOverlay = overlay === undefined ? undefined : overlayObstacle(overlay);
    if (inOverlay !== undefined) {
      const advice =
        'Rewrite the rule with patchStrategicMerge, or with patchesJson6902 to append items to a list.';
      return [{ ...inOverlay, path: [...at, 'overlay', ...inOverlay.path], advice }];
    }
    const inPatches = patchesObstacle(readList(mutate, 'patches'));
    if (inPatches === undefined) return [];
    const advice = 'Rewrite the rule with a foreach, or with patchStrategicMerge.';
    return [{ ...inPatches, path: [...at, 'patches', ...inPatches.path], advice }];
  });
}

/** Converts a v1alpha1 policy without obstacles. */
export function convertAlpha(policy: YAMLMap, indentSeq: boolean): void {
  // Without a namespace, such a policy applied to the whole cluster.
  const metadata = mapAt(policy, 'metadata');
  const isNamespaced = metadata !== undefined && textAt(metadata, 'namespace') !== undefined;
  if (textAt(policy, 'kind') === 'Policy' && !isNamespaced) setText(policy, 'kind', 'ClusterPolicy');
  const spec = mapAt(policy, 'spec');
  if (spec === undefined) return;
  mapsIn(spec, 'rules').forEach((rule, index) => {
    if ((textAt(rule, 'name') ?? '') === '') rule.items.unshift(newPair('name', new Scalar(`rule-${index}`)));
    convertResource(rule);
    const mutate = mapAt(rule, 'mutate');
    if (mutate !== undefined) convertMutate(mutate, indentSeq);
  });
}

function convertResource(rule: YAMLMap): void {
  const pair = pairOf(rule, 'resource');
  const resource = mapAt(rule, 'resource');
  if (pair === undefined || resource === undefined) return;
  const kinds = memberOf(resource, 'kinds');
  const kind = memberOf(resource, 'kind');
  const allKinds = [...(kind === undefined ? [] : [kind]), ...(isSeq(kinds) ? (kinds.items as Node[]) : [])];
  const lists: Readonly<Record<string, readonly Node[]>> = {
    kinds: allKinds,
    names: single(memberOf(resource, 'name')),
    namespaces: single(memberOf(resource, 'namespace')),
  };
  const selector = pairOf(resource, 'selector');
  const resources = newMap([
    ...Object.entries(lists).flatMap(([key, items]) =>
      items.length === 0 ? [] : [newPair(key, newList(items, true))],
    ),
    ...(selector === undefined ? [] : [selector]),
  ]);
  renameKey(pair, 'match');
  pair.value = newMap([newPair('any', newList([newMap([newPair('resources', resources)])]))]);
}

function single(node: Node | undefined): readonly Node[] {
  return node === undefined ? [] : [node];
}

function convertMutate(mutate: YAMLMap, indentSeq: boolean): void {
  const overlay = pairOf(mutate, 'overlay');
  if (overlay !== undefined) {
    renameKey(overlay, 'patchStrategicMerge');
    if (isMap(overlay.value)) dropNulls(overlay.value);
  }
  const patches = pairOf(mutate, 'patches');
  if (patches === undefined || !isSeq(patches.value)) return;
  renameKey(patches, 'patchesJson6902');
  patches.value = patchesAsText(patches.value, indentSeq);
  mutate.flow = false;
}

/** Drops nulls, which delete in a strategic merge but not in an overlay, and maps that contain only nulls. */
function dropNulls(map: YAMLMap): void {
  map.items = map.items.filter(({ value }) => {
    if (isMap(value)) {
      const wasEmpty = value.items.length === 0;
      dropNulls(value);
      return wasEmpty || value.items.length > 0;
    }
    if (isSeq(value)) for (const item of value.items) if (isMap(item)) dropNulls(item);
    return !isNull(value);
  });
}

function isNull(value: unknown): boolean {
  if (value === null) return true;
  return (
    isScalar(value) && value.type === 'PLAIN' && /^(?:null|Null|NULL|~|)$/.test(String(value.value ?? ''))
  );
}
