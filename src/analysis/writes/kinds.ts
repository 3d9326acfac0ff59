import { hasVariable } from '../../expression/template/tokens.ts';
import { compileWildcard, hasWildcard } from '../../expression/wildcard.ts';
import { read, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { mergeSchemaFor } from '../../patch/merge-schema.ts';
import { matchKinds } from '../../policy/check/match-blocks.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import type { WriteSchema } from './write-step.ts';

/** A kind whose objects a rule writes; each part may be a pattern. */
export interface WrittenKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly subresource: string;
}

interface BuiltInKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const builtIn: readonly BuiltInKind[] = Object.keys(mergeKinds).map((text) => {
  const parts = text.split('/');
  const [kind = '', version = '', group = ''] = parts.reverse();
  return { group, version, kind };
});

/** The kinds that a rule (as it runs, after autogen) writes: those it matches, or those of its targets. */
export function writtenKinds(rule: JsonObject): readonly WrittenKind[] {
  const mutate = readObject(rule, 'mutate') ?? {};
  const named =
    read(mutate, 'targets') === undefined
      ? matchKinds(rule).flatMap((text) => parseKind(text) ?? [])
      : readObjects(mutate, 'targets').map(targetKind);
  const kinds = new Map<string, WrittenKind>();
  for (const written of named.flatMap(withGroups)) {
    kinds.set(`${written.group}/${written.version}/${written.kind}/${written.subresource}`, written);
  }
  return [...kinds.values()];
}

function targetKind(target: JsonObject): WrittenKind {
  const apiVersion = readText(target, 'apiVersion') ?? '*';
  const slash = apiVersion.indexOf('/');
  const isKnown = apiVersion !== '*' && !hasVariable(apiVersion);
  const kind = readText(target, 'kind') ?? '*';
  const [name = '*', subresource = ''] = hasVariable(kind) ? ['*'] : kind.split('/');
  return {
    group: isKnown ? apiVersion.slice(0, Math.max(slash, 0)) : '*',
    version: isKnown ? apiVersion.slice(slash + 1) : '*',
    kind: name,
    subresource,
  };
}

/**
 * A built-in kind without a group means the built-in one: a custom kind of the same name needs its group.
 *
 */
function withGroups(written: WrittenKind): readonly WrittenKind[] {
  if (!hasWildcard(written.group) || hasWildcard(written.kind)) return [written];
  const groups = new Set(builtInKinds(written).map(({ group }) => group));
  if (groups.size > 1) groups.delete('extensions');
  return groups.size === 0 ? [written] : [...groups].map((group) => ({ ...written, group }));
}

function builtInKinds({ group, version, kind }: WrittenKind): readonly BuiltInKind[] {
  const [groups, versions] = [compileWildcard(group), compileWildcard(version)];
  return builtIn.filter(
    (known) => known.kind === kind && groups.matches(known.group) && versions.matches(known.version),
  );
}

/** An apiVersion for a kind: the built-in one, or an example for a kind without group or version. */
export function apiVersionFor(written: WrittenKind): string {
  const known = builtInKinds(written).findLast(({ version }) => version === 'v1') ?? builtInKinds(written)[0];
  const group = known?.group ?? (hasWildcard(written.group) ? 'example.com' : written.group);
  const version = known?.version ?? (hasWildcard(written.version) ? 'v1' : written.version);
  return group === '' ? version : `${group}/${version}`;
}

/** The merge schemas of a kind; several when its versions differ. */
export function schemasOf(written: WrittenKind): readonly WriteSchema[] {
  if (hasWildcard(written.kind)) return ['unknown'];
  // The body of a subresource has another kind, except for subresources that carry the whole object.
  if (!['', 'status', 'ephemeralcontainers', 'resize'].includes(written.subresource)) return ['unknown'];
  const schemas = builtInKinds(written).flatMap(({ group, version, kind }) => {
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return mergeSchemaFor(apiVersion, kind) ?? [];
  });
  return schemas.length === 0 ? ['custom'] : [...new Set(schemas)];
}
