import { usesVariables } from '../../expression/template/template.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { read, readBoolean, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { parseKind } from '../../policy/kind-selector.ts';

export type AccessVerb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete';

/** One permission that the background controller needs for a rule. */
export interface NeededAccess {
  /** `/spec/rules/0/mutate/targets/1`. */
  readonly pointer: string;
  readonly verb: AccessVerb;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

/** Finds the resource of a kind: through discovery, or offline among the built-in kinds. */
export interface ResourceLookup {
  resourceOf(kind: {
    readonly kind: string;
    readonly group?: string | undefined;
    readonly version?: string | undefined;
  }): { readonly group: string; readonly resource: string; readonly namespaced: boolean } | undefined;
}

const targetVerbs = ['get', 'list', 'patch'] as const;
const createVerbs = ['get', 'create'] as const;
const applyVerbs = ['get', 'create', 'patch'] as const;
/** Synchronized objects are watched, and so are clone sources. */
const synchronizeVerbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;
const readVerbs = ['get', 'list'] as const;

/** Permissions for targets and generated objects. Kinds that contain variables are only known at run time and left out. */
export function neededAccess(policy: JsonObject, kinds: ResourceLookup): readonly NeededAccess[] {
  if (isCelPolicy(policy)) return celTargetAccess(policy);
  const applies = readBoolean(readObject(policy, 'spec') ?? {}, 'useServerSideApply') ?? false;
  return inRules(policy, (rule, pointer, own) => [
    ...targetAccess(rule, pointer, own, kinds),
    ...generateAccess(rule, pointer, own, kinds, applies),
  ]);
}

/** Permissions to read triggers again. */
export function triggerAccess(policy: JsonObject, kinds: ResourceLookup): readonly NeededAccess[] {
  if (isCelPolicy(policy)) return celAccess(policy, 'matchConstraints', readVerbs);
  return inRules(policy, (rule, pointer, own) => {
    const isBackgroundRule =
      read(readObject(rule, 'mutate') ?? {}, 'targets') !== undefined || read(rule, 'generate') !== undefined;
    if (!isBackgroundRule) return [];
    const match = readObject(rule, 'match') ?? {};
    const blocks = [match, ...readObjects(match, 'any'), ...readObjects(match, 'all')];
    const texts = new Set(
      blocks.flatMap((block) => readTexts(readObject(block, 'resources') ?? {}, 'kinds')),
    );
    return [...texts].flatMap((text) => {
      const parts = parseKind(text);
      if (parts === undefined) return [];
      const { group, version, kind } = parts;
      const isOpen = hasWildcard(group) || hasWildcard(version);
      const known = { apiVersion: isOpen ? '' : `${group}/${version}`, kind };
      return accessTo(known, readVerbs, `${pointer}/match`, own ?? '', kinds);
    });
  });
}

/** Permissions for the ConfigMaps of the rule context. */
export function contextAccess(policy: JsonObject, kinds: ResourceLookup): readonly NeededAccess[] {
  return inRules(policy, (rule, pointer, own) => {
    const mutate = readObject(rule, 'mutate') ?? {};
    if (read(mutate, 'targets') === undefined && read(rule, 'generate') === undefined) return [];
    const holders = [rule, ...readObjects(mutate, 'targets')];
    return holders
      .flatMap((holder) => readObjects(holder, 'context'))
      .flatMap((entry) => {
        const configMap = readObject(entry, 'configMap');
        if (configMap === undefined) return [];
        const namespace = own ?? literal(readText(configMap, 'namespace'));
        return accessTo(
          { apiVersion: 'v1', kind: 'ConfigMap' },
          ['get'],
          `${pointer}/context`,
          namespace,
          kinds,
        );
      });
  });
}

function inRules(
  policy: JsonObject,
  of: (rule: JsonObject, pointer: string, own: string | undefined) => readonly NeededAccess[],
): readonly NeededAccess[] {
  const isNamespaced = readText(policy, 'kind') === 'Policy';
  const own = isNamespaced ? readText(readObject(policy, 'metadata') ?? {}, 'namespace') : undefined;
  return readObjects(readObject(policy, 'spec') ?? {}, 'rules').flatMap((rule, index) =>
    of(rule, `/spec/rules/${index}`, own),
  );
}

function targetAccess(
  rule: JsonObject,
  pointer: string,
  own: string | undefined,
  kinds: ResourceLookup,
): readonly NeededAccess[] {
  return readObjects(readObject(rule, 'mutate') ?? {}, 'targets').flatMap((target, index) =>
    accessTo(
      kindIn(target),
      targetVerbs,
      `${pointer}/mutate/targets/${index}`,
      own ?? literal(readText(target, 'namespace')),
      kinds,
    ),
  );
}

function generateAccess(
  rule: JsonObject,
  pointer: string,
  own: string | undefined,
  kinds: ResourceLookup,
  useServerSideApply: boolean,
): readonly NeededAccess[] {
  const generate = readObject(rule, 'generate');
  if (generate === undefined) return [];
  const isSynchronized = readBoolean(generate, 'synchronize') === true;
  const verbs = isSynchronized ? synchronizeVerbs : useServerSideApply ? applyVerbs : createVerbs;
  const loops = readObjects(generate, 'foreach');
  return (loops.length === 0 ? [generate] : loops).flatMap((pattern) => {
    const clone = readObject(pattern, 'clone');
    const list = readObject(pattern, 'cloneList');
    const made = [kindIn(pattern), ...readTexts(list ?? {}, 'kinds').map(splitKind)];
    const source = clone ?? list;
    const at = `${pointer}/generate`;
    return [
      ...made.flatMap((kind) =>
        accessTo(kind, verbs, at, own ?? literal(readText(pattern, 'namespace')), kinds),
      ),
      ...(source === undefined
        ? []
        : made.flatMap((kind) =>
            accessTo(
              kind,
              list === undefined ? ['get'] : ['list'],
              at,
              own ?? literal(readText(source, 'namespace')),
              kinds,
            ),
          )),
    ];
  });
}

function isCelPolicy(policy: JsonObject): boolean {
  const kind = readText(policy, 'kind');
  return kind === 'MutatingPolicy' || kind === 'NamespacedMutatingPolicy';
}

/** Without target constraints, the objects that a policy matches are its targets. */
function celTargetAccess(policy: JsonObject): readonly NeededAccess[] {
  const targets = readObject(readObject(policy, 'spec') ?? {}, 'targetMatchConstraints') ?? {};
  const isStated =
    readObjects(targets, 'resourceRules').length > 0 || (readText(targets, 'expression') ?? '') !== '';
  return celAccess(policy, isStated ? 'targetMatchConstraints' : 'matchConstraints', targetVerbs);
}

/** Resources with wildcards are only known at run time. */
function celAccess(
  policy: JsonObject,
  field: 'matchConstraints' | 'targetMatchConstraints',
  verbs: readonly AccessVerb[],
): readonly NeededAccess[] {
  const spec = readObject(policy, 'spec') ?? {};
  const existing = readObject(readObject(spec, 'evaluation') ?? {}, 'mutateExisting') ?? {};
  if (readBoolean(existing, 'enabled') !== true) return [];
  const isNamespaced = readText(policy, 'kind') === 'NamespacedMutatingPolicy';
  const namespace = isNamespaced ? (readText(readObject(policy, 'metadata') ?? {}, 'namespace') ?? '') : '';
  return readObjects(readObject(spec, field) ?? {}, 'resourceRules').flatMap((rule, index) =>
    readTexts(rule, 'apiGroups').flatMap((group) =>
      readTexts(rule, 'resources')
        .filter((resource) => !hasWildcard(group) && !hasWildcard(resource))
        .flatMap((text) => {
          const [resource = '', subresource = ''] = text.split('/');
          const pointer = `/spec/${field}/resourceRules/${index}`;
          const ofParent = { pointer, group, resource, subresource: '', namespace };
          if (subresource === '') return verbs.map((verb) => ({ ...ofParent, verb }));
          return [
            ...readVerbs.map((verb) => ({ ...ofParent, verb })),
            ...verbs.filter((verb) => verb !== 'list').map((verb) => ({ ...ofParent, subresource, verb })),
          ];
        }),
    ),
  );
}

interface KindText {
  readonly apiVersion: string;
  /** May name a subresource: `Deployment/scale`. */
  readonly kind: string;
}

function kindIn(holder: JsonObject): KindText {
  return { apiVersion: readText(holder, 'apiVersion') ?? '', kind: readText(holder, 'kind') ?? '' };
}

function splitKind(text: string): KindText {
  const slash = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, Math.max(slash, 0)), kind: text.slice(slash + 1) };
}

function accessTo(
  { apiVersion, kind: written }: KindText,
  verbs: readonly AccessVerb[],
  pointer: string,
  namespace: string,
  kinds: ResourceLookup,
): readonly NeededAccess[] {
  const [kind = '', subresource = ''] = written.split(/[/.]/);
  if (kind === '' || usesVariables(written) || usesVariables(apiVersion) || hasWildcard(kind)) return [];
  const slash = apiVersion.indexOf('/');
  const group = apiVersion.slice(0, Math.max(slash, 0));
  const version = apiVersion.slice(slash + 1);
  const served = kinds.resourceOf({
    kind,
    group: apiVersion === '' || hasWildcard(group) ? undefined : group,
    version: apiVersion === '' || hasWildcard(version) ? undefined : version,
  });
  if (served === undefined) return [];
  const access = {
    pointer,
    group: served.group,
    resource: served.resource,
    namespace: served.namespaced ? namespace : '',
  };
  const ofParent = verbs.map((verb) => ({ ...access, verb, subresource: '' }));
  if (subresource === '') return ofParent;
  return [
    ...ofParent.filter(({ verb }) => verb !== 'patch'),
    ...(['get', 'patch'] as const).map((verb) => ({ ...access, verb, subresource })),
  ];
}

/** Empty (all namespaces) if the namespace is only known at run time. */
function literal(namespace: string | undefined): string {
  return namespace === undefined || hasVariable(namespace) || hasWildcard(namespace) ? '' : namespace;
}
