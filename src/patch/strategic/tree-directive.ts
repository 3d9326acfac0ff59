import { isArray, isObject, type Json, type Path } from '../../json/value.ts';
import type { Directive, FieldDirective, Filled } from './tree.ts';
import type { OverlayBuild } from './tree-build.ts';

/** The directives of one overlay map, gathered while its keys are read. */
export interface MapDirectives {
  directive: Directive;
  retainKeys?: Filled | undefined;
  readonly deletions: FieldDirective[];
  readonly orders: FieldDirective[];
}

const orderPrefix = '$setElementOrder/';
const deletionPrefix = '$deleteFromPrimitiveList/';

/** True when the key is a directive of strategic merge and not a member to write. */
export function takeDirective(
  key: string,
  value: Json,
  path: Path,
  build: OverlayBuild,
  into: MapDirectives,
): boolean {
  if (!key.startsWith('$')) return false;
  if (key === '$patch') into.directive = directiveWord(value, path, build);
  else if (key === '$retainKeys') into.retainKeys = compileNames(value, path, build);
  else if (key.startsWith(orderPrefix)) {
    into.orders.push({ field: key.slice(orderPrefix.length), values: compileNames(value, path, build) });
  } else if (key.startsWith(deletionPrefix)) {
    into.deletions.push({
      field: key.slice(deletionPrefix.length),
      values: compileNames(value, path, build),
    });
  } else return false;
  return true;
}

/** An item made of `$patch` alone speaks about the whole list. */
export function takeListDirective(item: Json, path: Path, build: OverlayBuild): Directive | undefined {
  if (!isObject(item) || !Object.hasOwn(item, '$patch') || Object.keys(item).length !== 1) return undefined;
  return directiveWord(item['$patch'] ?? null, [...path, '$patch'], build);
}

function directiveWord(value: Json, path: Path, build: OverlayBuild): Directive {
  if (value === 'merge' || value === 'replace' || value === 'delete') return value;
  build.reporter.error(
    path,
    'KYM_PATCH_DIRECTIVE',
    `unknown patch strategy ${JSON.stringify(value)}`,
    '$patch is merge, replace or delete.',
  );
  return 'merge';
}

function compileNames(value: Json, path: Path, build: OverlayBuild): Filled {
  const filled = build.fill(value, path);
  if (filled.slot === undefined && !isArray(filled.value)) {
    build.reporter.error(path, 'KYM_PATCH_DIRECTIVE', `${String(path.at(-1))} takes a list`);
  }
  return filled;
}
