import { hasWildcard } from '../../expression/wildcard.ts';
import { visibleLine } from '../../offline/output/visible.ts';
import { formatText } from '../../yaml/scalar-text.ts';
import type { KindHints, PathHint } from './hints.ts';

/**
 * The parts of a Kustomization and of a HelmRelease that make Flux ignore fields that policies write. Flux detects drift with a
 * dry run, which calls the webhooks. Fields that a rule only defaults are not listed: listing them would keep Git from setting
 * them.
 */
export function fluxText(hints: readonly KindHints[]): string {
  const rules = hints.flatMap(ruleLines);
  const ignore = (indent: string) =>
    rules.length === 0
      ? [`${indent}ignore: []`]
      : [`${indent}ignore:`, ...rules.map((line) => `${indent}  ${line}`)];
  return `${[
    '# Flux: merge into a Kustomization (Flux 2.9 or later).',
    '# Written by kymera gitops hints; run it again when policies change.',
    ...noteLines(hints),
    'apiVersion: kustomize.toolkit.fluxcd.io/v1',
    'kind: Kustomization',
    'spec:',
    ...ignore('  '),
    '---',
    '# Flux: merge into a HelmRelease with drift detection.',
    'apiVersion: helm.toolkit.fluxcd.io/v2',
    'kind: HelmRelease',
    'spec:',
    '  driftDetection:',
    '    mode: enabled',
    ...ignore('    '),
  ].join('\n')}\n`;
}

function overwritten({ paths }: KindHints, type: PathHint['path']['type']): readonly PathHint[] {
  return paths.filter(({ path, onlyWhereAbsent }) => path.type === type && !onlyWhereAbsent);
}

function ruleLines(hints: KindHints): readonly string[] {
  const { group, kind, namespace } = hints;
  const exact = overwritten(hints, 'pointer');
  if (exact.length === 0) return [];
  const target = [
    ...(group === '' || hasWildcard(group) ? [] : [`group: ${formatText(group)}`]),
    ...(hasWildcard(kind) ? [] : [`kind: ${formatText(kind)}`]),
    ...(namespace === undefined ? [] : [`namespace: ${formatText(namespace)}`]),
  ];
  return [
    '- paths:',
    ...exact.map(({ path, rules }) => `    - ${formatText(path.text)} # ${visibleLine(rules.join(', '))}`),
    ...(target.length === 0 ? [] : ['  target:', ...target.map((line) => `    ${line}`)]),
  ];
}

/** Writes that no JSON pointer can address. */
function noteLines(hints: readonly KindHints[]): readonly string[] {
  const lines = hints.flatMap((kind) => [
    ...kind.anywhere.map(
      (rule) => `#   ${visibleLine(`${kind.kind}: paths that depend on variables of ${rule}`)}`,
    ),
    ...overwritten(kind, 'jq').map(
      ({ place, rules }) => `#   ${visibleLine(`${kind.kind}: ${place} (${rules.join(', ')})`)}`,
    ),
  ]);
  if (lines.length === 0) return [];
  return [
    '# No JSON pointer can address these. They are not drift as long as the policies are active in the cluster:',
    ...lines,
  ];
}
