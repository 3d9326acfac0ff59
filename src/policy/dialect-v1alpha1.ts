import { read, readList, readObject, readObjects, readText, readTexts } from '../json/read-field.ts';
import type { JsonObject, Path } from '../json/value.ts';
import { compileJsonPatch } from '../patch/json-patch/json-patch.ts';
import { compileOverlay } from '../patch/v1alpha1/overlay.ts';
import type { Reporter } from '../problem.ts';
import type { CompiledMutation } from './compiled.ts';

/** The v1alpha1 form of policies: `resource` for match, `mutate.patches` and `mutate.overlay`. */
export function isAlphaDialect(document: JsonObject): boolean {
  const apiVersion = readText(document, 'apiVersion') ?? '';
  if (apiVersion.startsWith('policy.nirmata.io/')) return true;
  if (apiVersion !== 'kyverno.io/v1alpha1') return false;
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').some((rule) => {
    const mutate = readObject(rule, 'mutate') ?? {};
    return (
      ['patches', 'overlay'].some((field) => Object.hasOwn(mutate, field)) || Object.hasOwn(rule, 'resource')
    );
  });
}

/** The rule in kyverno.io/v1 form. `mutate` is unchanged, since v1alpha1 overlays treat lists differently. */
export function modernizeRule(rule: JsonObject, index: number): JsonObject {
  const resource = readObject(rule, 'resource') ?? {};
  const kind = readText(resource, 'kind');
  const name = readText(resource, 'name');
  const namespace = readText(resource, 'namespace');
  const selector = read(resource, 'selector');
  const resources: JsonObject = {
    kinds: [...(kind === undefined ? [] : [kind]), ...readTexts(resource, 'kinds')],
    ...(name === undefined ? {} : { names: [name] }),
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    ...(selector === undefined ? {} : { selector }),
  };
  const { name: written, resource: _, ...rest } = rule;
  return {
    name: typeof written === 'string' && written !== '' ? written : `rule-${index}`,
    match: { any: [{ resources }] },
    ...rest,
  };
}

/** The path in the original rule for a path of the modernized rule. */
export function alphaPath(path: Path): Path {
  const prefix = ['match', 'any', 0, 'resources'];
  if (path[0] !== 'match') return path;
  if (path.length < prefix.length || !prefix.every((token, index) => path[index] === token))
    return ['resource'];
  const [field, , ...rest] = path.slice(prefix.length);
  const names: Readonly<Record<string, string>> = { names: 'name', namespaces: 'namespace', kinds: 'kind' };
  if (field === undefined) return ['resource'];
  const single = names[field];
  return single === undefined ? ['resource', ...path.slice(prefix.length)] : ['resource', single, ...rest];
}

export function compileAlphaMutation(
  mutate: JsonObject,
  path: Path,
  reporter: Reporter,
): CompiledMutation | undefined {
  const overlay = read(mutate, 'overlay');
  const patches = readList(mutate, 'patches');
  if ((overlay === undefined) === (patches.length === 0)) {
    const found = overlay === undefined ? 'none' : 'both';
    reporter.error(
      path,
      'KYM_MUTATE_FORM',
      `mutate needs exactly one of patches and overlay; found ${found}`,
    );
    return undefined;
  }
  const patch =
    overlay === undefined
      ? compileJsonPatch(patches, [...path, 'patches'], reporter)
      : compileOverlay(overlay, [...path, 'overlay'], reporter);
  return patch === undefined ? undefined : { type: 'patch', patch };
}
