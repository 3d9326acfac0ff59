import { childrenOf, type Node } from './syntax/ast.ts';

/** A feature of the language that not every API server has. */
export interface NeededVersion {
  /** The first minor version of Kubernetes 1 that has it. */
  readonly minor: number;
  /** What needs it, as written: `semver`. */
  readonly feature: string;
  readonly offset: number;
}

/** Functions by the first version that has them. Methods of their results need no entries: the value comes from one of these. */
const functionsSince: ReadonlyMap<number, readonly string[]> = new Map([
  [28, ['quantity', 'isQuantity', 'optional.of', 'optional.none', 'optional.ofNonZeroValue', '_[?_]']],
  [29, ['sets.contains', 'sets.intersects', 'sets.equivalent', 'strings.quote', 'format']],
  [30, ['ip', 'isIP', 'ip.isCanonical', 'cidr', 'isCIDR']],
  [31, ['format.named']],
  [33, ['semver', 'isSemver']],
  [34, ['slice', 'flatten', 'sort', 'distinct', 'reverse', 'lists.range', 'first', 'last']],
]);
const sinceByFunction: ReadonlyMap<string, number> = new Map(
  [...functionsSince].flatMap(([minor, names]) => names.map((name) => [name, minor] as const)),
);

/** The newest feature that the expression uses; the first of several. */
export function neededVersion(node: Node): NeededVersion | undefined {
  let needed = versionOf(node);
  for (const child of childrenOf(node)) {
    const below = neededVersion(child);
    if (below !== undefined && (needed === undefined || below.minor > needed.minor)) needed = below;
  }
  return needed;
}

function versionOf(node: Node): NeededVersion | undefined {
  const { offset } = node;
  if (node.kind === 'call') {
    const qualified = node.target?.kind === 'ident' ? `${node.target.name}.${node.name}` : node.name;
    const isFormat = qualified.startsWith('format.');
    const name = sinceByFunction.has(qualified) ? qualified : node.name;
    const minor = isFormat ? 31 : sinceByFunction.get(name);
    return minor === undefined ? undefined : { minor, feature: isFormat ? qualified : name, offset };
  }
  if (node.kind === 'comprehension') {
    if (node.macro === 'sortBy') return { minor: 34, feature: 'sortBy', offset };
    return node.variables.length === 2
      ? { minor: 32, feature: `${node.macro} with two variables`, offset }
      : undefined;
  }
  if (node.kind === 'optMap' || (node.kind === 'select' && node.mode === 'optional'))
    return { minor: 28, feature: 'optional values', offset };
  return undefined;
}
