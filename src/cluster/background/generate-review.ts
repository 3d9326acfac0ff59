import { apiVersionAndKind } from '../../background/generate/desired.ts';
import { groupVersionOf } from '../../background/object-identity.ts';
import { usesVariables } from '../../expression/template/template.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { equal } from '../../json/equal.ts';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { KindTable } from '../api/discovery.ts';

interface Pattern {
  readonly pointer: string;
  readonly rule: string;
  readonly pattern: JsonObject;
}

/** Targets of generate rules that the API server does not serve, or whose namespace does not suit their kind. */
export function generateProblems(policy: JsonObject, kinds: KindTable): readonly string[] {
  const isNamespaced = readText(policy, 'kind') === 'Policy';
  return patternsOf(policy).flatMap(({ pointer, pattern }) => {
    const list = readTexts(readObject(pattern, 'cloneList') ?? {}, 'kinds');
    if (list.length > 0)
      return list.flatMap((kind) => unknownKind(kind, `${pointer}/cloneList/kinds`, kinds));
    const kind = readText(pattern, 'kind') ?? '';
    const text = `${readText(pattern, 'apiVersion') ?? ''}/${kind}`;
    const served = servedKind(text, kinds);
    if (served === 'any') return [];
    if (served === undefined) return unknownKind(text, pointer, kinds);
    const namespace = readText(pattern, 'namespace') ?? '';
    if (served.namespaced)
      return namespace === '' && !isNamespaced
        ? [`${pointer}: ${kind} is a namespaced kind: the rule must set the namespace`]
        : [];
    if (isNamespaced)
      return [`${pointer}/kind: a namespaced Policy cannot generate a ${kind}, which is cluster-scoped`];
    return namespace === '' ? [] : [`${pointer}/namespace: ${kind} has no namespace. Remove namespace.`];
  });
}

/** Rules that generate other objects than before. As in Kyverno, the former objects stay. */
export function staleWarnings(before: JsonObject, after: JsonObject): readonly string[] {
  const former = patternsOf(before);
  const current = patternsOf(after);
  const changed = former.filter(
    ({ rule, pattern }) =>
      current.some((each) => each.rule === rule) &&
      !current.some((each) => each.rule === rule && equal(targetOf(each.pattern), targetOf(pattern))),
  );
  return [...new Set(changed.map(({ rule }) => rule))].map(
    (rule) => `rule ${rule} generates other objects than before; the objects that it has generated stay`,
  );
}

/** The fields that identify generated objects. */
function targetOf(pattern: JsonObject): JsonObject {
  const fields = ['apiVersion', 'kind', 'namespace', 'name', 'clone', 'cloneList'];
  return Object.fromEntries(Object.entries(pattern).filter(([field]) => fields.includes(field)));
}

function patternsOf(policy: JsonObject): readonly Pattern[] {
  return readObjects(readObject(policy, 'spec') ?? {}, 'rules').flatMap((rule, index) => {
    const generate = readObject(rule, 'generate');
    if (generate === undefined) return [];
    const name = readText(rule, 'name') ?? '';
    const pointer = `/spec/rules/${index}/generate`;
    const loops = readObjects(generate, 'foreach');
    if (loops.length === 0) return [{ pointer, rule: name, pattern: generate }];
    return loops.map((pattern, at) => ({ pointer: `${pointer}/foreach/${at}`, rule: name, pattern }));
  });
}

function unknownKind(text: string, pointer: string, kinds: KindTable): readonly string[] {
  if (servedKind(text, kinds) !== undefined) return [];
  return [`${pointer}: the API server does not serve ${text}. Install its CustomResourceDefinition first.`];
}

/** `any` for a kind that is only known at run time, or that no rule names. */
function servedKind(text: string, kinds: KindTable): ReturnType<KindTable['resourceOf']> | 'any' {
  const { apiVersion, kind } = apiVersionAndKind(text);
  if (kind === '' || usesVariables(text) || hasWildcard(kind)) return 'any';
  if (hasWildcard(apiVersion)) return kinds.resourceOf({ kind });
  const { group, version } = groupVersionOf(apiVersion);
  return kinds.resourceOf({ kind, group, version });
}
