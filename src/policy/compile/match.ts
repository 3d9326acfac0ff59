import { type CompiledLabelSelector, compileLabelSelector } from '../../expression/label-selector.ts';
import { compileWildcard, type TextMatcher } from '../../expression/wildcard.ts';
import { read, readObjects, readText, readTextMap, readTexts } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { type BlockDocument, filterBlocks, isEmptyBlock } from '../check/match-blocks.ts';
import type { CompiledBlock, CompiledFilter, KindSelector, Operation, Subject } from '../compiled.ts';
import { compileKind } from '../kind-selector.ts';

/** Compiles `match` or `exclude`. Blocks without restrictions are omitted; without any block there is no filter. */
export function compileFilter(
  filter: JsonObject,
  path: Path,
  reporter: Reporter,
): CompiledFilter | undefined {
  const { mode, blocks } = filterBlocks(filter, path);
  const compiled = blocks
    .filter((block) => !isEmptyBlock(block))
    .map((block) => compileBlock(block, reporter));
  if (compiled.length === 0) return undefined;
  return mode === 'any' ? { any: compiled } : { all: compiled };
}

function compileBlock({ path, resources, block }: BlockDocument, reporter: Reporter): CompiledBlock {
  const at = [...path, 'resources'];
  return withoutAbsent({
    path,
    kinds: nonEmpty(compileKinds(readTexts(resources, 'kinds'), [...at, 'kinds'], reporter)),
    names: nonEmpty(wildcards(namesOf(resources))),
    namespaces: nonEmpty(wildcards(readTexts(resources, 'namespaces'))),
    annotations: nonEmpty(
      Object.entries(readTextMap(resources, 'annotations')).map(([key, value]) => ({
        key: compileWildcard(key),
        value: compileWildcard(value),
      })),
    ),
    selector: selector(resources, 'selector', at, reporter),
    namespaceSelector: selector(resources, 'namespaceSelector', at, reporter),
    operations: nonEmptySet(readTexts(resources, 'operations')) as ReadonlySet<Operation> | undefined,
    subjects: nonEmpty(readObjects(block, 'subjects').flatMap(compileSubject)),
    roles: nonEmptySet(readTexts(block, 'roles')),
    clusterRoles: nonEmptySet(readTexts(block, 'clusterRoles')),
  });
}

function namesOf(resources: JsonObject): readonly string[] {
  const single = readText(resources, 'name');
  return single === undefined || single === '' ? readTexts(resources, 'names') : [single];
}

function compileKinds(kinds: readonly string[], path: Path, reporter: Reporter): KindSelector[] {
  return kinds.flatMap((text, index) => {
    const compiled = compileKind(text);
    if (compiled !== undefined) return [compiled];
    reporter.error(
      [...path, index],
      'KYM_MATCH_KIND',
      `${JSON.stringify(text)} has too many parts to be a kind`,
      'Write Kind, version/Kind or group/version/Kind, and /subresource where needed.',
    );
    return [];
  });
}

function selector(
  resources: JsonObject,
  field: 'selector' | 'namespaceSelector',
  path: Path,
  reporter: Reporter,
): CompiledLabelSelector | undefined {
  const value = read(resources, field);
  return value === undefined
    ? undefined
    : compileLabelSelector(value, [...path, field], reporter, { wildcards: true });
}

function compileSubject(subject: JsonObject): Subject[] {
  const kind = readText(subject, 'kind');
  const name = readText(subject, 'name') ?? '';
  switch (kind) {
    case 'User':
    case 'Group':
      return [{ kind, matches: compileWildcard(name), text: `${kind} ${name}` }];
    case 'ServiceAccount': {
      const namespace = readText(subject, 'namespace') ?? '';
      const matches = compileWildcard(`system:serviceaccount:${namespace}:${name}`);
      return [{ kind, matches, text: `${kind} ${namespace}/${name}` }];
    }
    default:
      return [];
  }
}

function wildcards(patterns: readonly string[]): TextMatcher[] {
  return patterns.map(compileWildcard);
}

function nonEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

function nonEmptySet(items: readonly string[]): ReadonlySet<string> | undefined {
  return items.length === 0 ? undefined : new Set(items);
}

type Optional<Value> = { [Key in keyof Value]: Value[Key] | undefined };

/** Absent attributes do not restrict, so the block omits them. */
function withoutAbsent(block: Optional<CompiledBlock> & { path: Path }): CompiledBlock {
  return Object.fromEntries(
    Object.entries(block).filter(([, value]) => value !== undefined),
  ) as unknown as CompiledBlock;
}
