import {
  type Blockage,
  blockagesUntilStuck,
  fingerprintOf,
  readBlockage,
  stuckRules,
} from '../../admission/blockage.ts';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import { readTextMap } from '../../json/read-field.ts';
import { isArray, type JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { startInformer } from '../api/informer.ts';
import { managedLabels } from '../api/names.ts';
import { resourceTypes } from '../api/resource-path.ts';

/** The ConfigMap with the blockages that all replicas have seen. */
export const blockagesName = 'kymera-blocked-rules';

/** Blockages of all replicas. */
export interface SharedBlockages {
  /** Returns the same list until it changes. */
  known(): readonly Blockage[];
  /** Stores new blockages. After a failure the caller adds them again. */
  add(blockages: readonly Blockage[]): Promise<void>;
  stop(): Promise<void>;
}

export interface SharedBlockageOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/** With names of the greatest length, they fit into a ConfigMap. */
const mostBlockages = 400;

export function startSharedBlockages(options: SharedBlockageOptions): SharedBlockages {
  const { client, namespace } = options;
  const place = { namespace, name: blockagesName };
  const type = resourceTypes.configMaps;
  let known: readonly Blockage[] = [];
  const informer = startInformer({
    client,
    type,
    kind: 'ConfigMap',
    select: { namespace, fieldSelector: `metadata.name=${blockagesName}` },
    onChange({ object }) {
      known = blockagesIn(object);
      options.onChange();
    },
    onError: options.onError,
  });

  async function read(): Promise<JsonObject | undefined> {
    try {
      return await client.get(type, place);
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  return {
    known: () => known,
    async add(blockages) {
      const existing = await read();
      const stored = blockagesIn(existing);
      const merged = mergeBlockages(stored, blockages);
      if (merged.length === stored.length && merged.every((each, index) => each === stored[index])) return;
      const data = { blockages: stringifyJson(merged) };
      // The resourceVersion prevents overwriting what another replica has just written.
      if (existing !== undefined) await client.update(type, { ...existing, data });
      else
        await client.create(type, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { ...place, labels: { ...managedLabels } },
          data,
        });
    },
    stop: () => informer.stop(),
  };
}

/** As many of each rule and namespace as are needed, and the newest of all. */
export function mergeBlockages(stored: readonly Blockage[], added: readonly Blockage[]): readonly Blockage[] {
  const merged = [...stored];
  for (const blockage of added) {
    const same = merged.filter(
      ({ fingerprint, policy, namespace }) =>
        fingerprint === blockage.fingerprint &&
        policy === blockage.policy &&
        namespace === blockage.namespace,
    );
    const isKnown = same.some(({ id }) => id === blockage.id);
    if (!isKnown && same.length < blockagesUntilStuck) merged.push(blockage);
  }
  return merged.slice(-mostBlockages);
}

/** What the status of a policy says about its rules that no longer run. */
export function stuckRuleNotes(
  blockages: readonly Blockage[],
  policy: Pick<CompiledPolicy, 'kind' | 'key' | 'rules' | 'generateRules'>,
): readonly string[] {
  const id = policyId(policy);
  const stuck = [...stuckRules(blockages.filter((blockage) => blockage.policy === id)).values()];
  if (stuck.length === 0) return [];
  const current = new Set([...policy.rules, ...policy.generateRules].map(fingerprintOf));
  return stuck
    .filter(({ fingerprint }) => current.has(fingerprint))
    .map(
      ({ rule, namespace }) =>
        `rule ${rule} fails at once for objects of namespace "${namespace}": it has blocked the server twice`,
    );
}

function blockagesIn(configMap: JsonObject | undefined): readonly Blockage[] {
  try {
    const list = parseJson(readTextMap(configMap ?? {}, 'data')['blockages'] ?? '[]');
    return isArray(list) ? list.flatMap((value) => readBlockage(value) ?? []) : [];
  } catch {
    // Edited by hand: the next blockage replaces it.
    return [];
  }
}
